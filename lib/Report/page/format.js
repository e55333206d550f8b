// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Formats numbers with units and separators, and creates elements from text.
'use strict';

/** Returns a number with separators: 1,234,567. */
function formatCount(value) {
  return Math.round(value).toLocaleString('en-US');
}

/** Returns three significant digits with the unit prefix. */
function formatScaled(value, units, step = 1000) {
  let scaled = value, unit = 0;
  while (Math.abs(scaled) >= step && unit + 1 < units.length) {
    scaled /= step;
    ++unit;
  }
  const digits = unit === 0 && Number.isInteger(value) ? 0 :
      Math.abs(scaled) < 10 ? 2 : Math.abs(scaled) < 100 ? 1 : 0;
  return `${scaled.toFixed(digits)} ${units[unit]}`;
}

const formatBytes = bytes => formatScaled(bytes, ['B', 'KB', 'MB', 'GB', 'TB']);
const formatFlops = flops => formatScaled(flops, ['FLOP', 'KFLOP', 'MFLOP', 'GFLOP', 'TFLOP']);
const formatFlopRate = rate => formatScaled(rate, ['FLOP/s', 'KFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s']);
const formatByteRate = rate => formatScaled(rate, ['B/s', 'KB/s', 'MB/s', 'GB/s', 'TB/s']);

/** Returns a time given in microseconds. */
function formatTime(us) {
  if (us < 1)
    return `${formatScaled(us * 1000, ['ns'])}`;
  return us < 1e6 ? formatScaled(us + 1e-9, ['\u00b5s', 'ms']) : `${(us / 1e6).toFixed(2)} s`;
}

function formatPercent(part) {
  if (part > 0 && part < 0.0005)
    return '<0.1 %';
  return `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %`;
}

/**
 * Returns a new element. Properties that begin with "on" are listeners, others
 * attributes; children are elements or texts.
 */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false)
      continue;
    if (key.startsWith('on'))
      made.addEventListener(key.slice(2), value);
    else
      made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

/** Returns the theme's colors by their names in the style, for canvases. */
function styleColors() {
  const probe = document.getElementById('color-probe') ??
      document.body.appendChild(element('span', {id: 'color-probe', hidden: true}));
  const colors = {};
  for (const name of ['card', 'line', 'text', 'faint', 'accent', 'halo', 'track']) {
    probe.style.color = `var(--${name})`;
    colors[name] = getComputedStyle(probe).color;
  }
  return colors;
}

/** Sets a canvas' resolution to the screen's, and returns its context in CSS pixels. */
function prepareCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height};
}
