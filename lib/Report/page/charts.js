// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Bar charts and the roofline.
'use strict';

/**
 * Fills an element with bars of {name, value, text, color, roof, kernel}: `roof`
 * is a mark on the same scale, `kernel` is selected by a click.
 */
function drawBars(target, rows, onSelect) {
  const most = Math.max(...rows.map(row => Math.max(row.value, row.roof ?? 0)), 1e-12);
  target.replaceChildren(...rows.map(row => {
    const fill = element('span', {class: 'fill', style: `width:${(100 * row.value / most).toFixed(2)}%;background:${row.color}`});
    const track = element('span', {class: 'track'}, fill);
    if (row.roof !== undefined)
      track.append(element('span', {class: 'roof', style: `left:calc(${(100 * row.roof / most).toFixed(2)}% - 1px)`}));
    const isLink = row.kernel !== undefined;
    return element('div', {class: isLink ? 'bar link' : 'bar', title: row.title ?? row.name,
      onclick: isLink ? () => onSelect(row.kernel) : null},
      element('span', {class: 'name'}, row.name), track, element('span', {class: 'value'}, row.text));
  }));
}

/** Returns sums of time, roof and launches by operator type, the longest first. */
function sumByType() {
  const types = new Map();
  for (const kernel of kernels) {
    const sum = types.get(kernel.type) ?? {type: kernel.type, us: 0, roof: 0, launches: 0};
    sum.us += timeOf(kernel);
    sum.roof += roofTime(kernel);
    sum.launches += kernel.calls;
    types.set(kernel.type, sum);
  }
  return [...types.values()].sort((a, b) => b.us - a.us);
}

const TOP_BARS = 16;

function drawTimes(onSelect) {
  const between = measured?.between ?? 0;
  const total = kernels.reduce((sum, kernel) => sum + timeOf(kernel), between) || 1;
  const text = us => `${formatTime(us)} \u00b7 ${formatPercent(us / total)}`;
  const types = sumByType().slice(0, TOP_BARS).map(sum => ({
    name: `${sum.type} (${formatCount(sum.launches)})`, value: sum.us, text: text(sum.us), color: colorOf(sum.type),
    roof: measured ? sum.roof : undefined,
    title: `${sum.type}: ${formatCount(sum.launches)} launches, at least ${formatTime(sum.roof)} on this machine`,
  }));
  if (measured)
    types.push({name: 'between launches', value: between, text: text(between), color: 'var(--faint)',
      title: 'The time of a run outside of kernels'});
  drawBars(document.getElementById('by-type'), types);
  const longest = [...kernels].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, TOP_BARS);
  drawBars(document.getElementById('by-kernel'), longest.map(kernel => ({
    name: kernel.name, value: timeOf(kernel), text: text(timeOf(kernel)), color: colorOf(kernel.type),
    roof: measured ? roofTime(kernel) : undefined, kernel: kernel.number,
    title: `${kernel.name}: ${kernel.nodes.join(', ')}; at least ${formatTime(roofTime(kernel))} on this machine`,
  })), onSelect);
}

//===----------------------------------------------------------------------===//
// Roofline
//===----------------------------------------------------------------------===//

const SVG = 'http://www.w3.org/2000/svg';

function svgElement(tag, properties, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(properties))
    made.setAttribute(key, value);
  if (text)
    made.textContent = text;
  return made;
}

/** Draws operations per second over operations per byte, both logarithmic. */
function drawRoofline(target, onSelect, selected) {
  const width = Math.max(480, target.clientWidth), height = 340;
  const area = {left: 82, right: width - 16, top: 14, bottom: height - 40};
  const points = kernels.filter(kernel => kernel.flops > 0 && kernel.bytes > 0 && timeOf(kernel) > 0).map(kernel => ({
    kernel, intensity: kernel.flops / kernel.bytes, rate: kernel.flops / timeOf(kernel) * 1e6,
  }));
  const ridge = machine.flops / machine.bytes;
  const decades = (values, least, most) => [
    Math.floor(Math.log10(Math.min(least, ...values))), Math.ceil(Math.log10(Math.max(most, ...values)))];
  const [x0, x1] = decades(points.map(point => point.intensity), 0.1, ridge * 10);
  const [y0, y1] = decades(points.map(point => point.rate), machine.flops / 1000, machine.flops * 1.01);
  const toX = value => area.left + (Math.log10(value) - x0) / (x1 - x0) * (area.right - area.left);
  const toY = value => area.bottom - (Math.log10(value) - y0) / (y1 - y0) * (area.bottom - area.top);
  const svg = svgElement('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Roofline of the kernels'});
  for (let x = x0; x <= x1; ++x) {
    svg.append(svgElement('line', {class: 'grid', x1: toX(10 ** x), x2: toX(10 ** x), y1: area.top, y2: area.bottom}));
    svg.append(svgElement('text', {x: toX(10 ** x), y: area.bottom + 16, 'text-anchor': 'middle'}, String(+(10 ** x).toPrecision(3))));
  }
  for (let y = y0; y <= y1; ++y) {
    svg.append(svgElement('line', {class: 'grid', x1: area.left, x2: area.right, y1: toY(10 ** y), y2: toY(10 ** y)}));
    svg.append(svgElement('text', {x: area.left - 8, y: toY(10 ** y) + 4, 'text-anchor': 'end'},
      formatFlopRate(10 ** y).replace('.00', '').replace('.0', '')));
  }
  svg.append(svgElement('text', {x: (area.left + area.right) / 2, y: height - 6, 'text-anchor': 'middle'},
    'operations per byte read and written'));
  svg.append(svgElement('path', {class: 'roof', d:
    `M${toX(10 ** x0)} ${Math.min(area.bottom, toY(machine.bytes * 10 ** x0))}L${toX(ridge)} ${toY(machine.flops)}L${area.right} ${toY(machine.flops)}`}));
  const longest = Math.max(...points.map(point => timeOf(point.kernel)), 1e-9);
  for (const {kernel, intensity, rate} of points) {
    const radius = 3 + 9 * Math.sqrt(timeOf(kernel) / longest);
    const circle = svgElement('circle', {cx: toX(intensity), cy: toY(rate), r: radius, fill: colorOf(kernel.type),
      class: kernel.number === selected ? 'selected' : '', 'data-kernel': kernel.number});
    circle.append(svgElement('title', {}, `${kernel.name}\n${formatFlopRate(rate)} of ${
      formatFlopRate(Math.min(machine.flops, machine.bytes * intensity))}\n${formatTime(timeOf(kernel))}`));
    circle.addEventListener('click', () => onSelect(kernel.number));
    svg.append(circle);
  }
  target.replaceChildren(svg);
}
