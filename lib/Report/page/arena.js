// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The arena: a rectangle for each slot, from its first to its last launch and from
// its offset to its end.
'use strict';

class ArenaView {
  constructor(canvas, hover, onSelect) {
    this.canvas = canvas;
    this.hover = hover;
    this.selected = null;
    canvas.addEventListener('pointermove', event => this.point(event));
    canvas.addEventListener('pointerleave', () => { hover.textContent = '\u00a0'; });
    canvas.addEventListener('click', event => {
      const slot = this.find(event);
      if (slot)
        onSelect(slot.first);
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  select(kernel) {
    this.selected = kernel;
    this.draw();
  }

  scale() {
    const area = {left: 74, right: this.canvas.clientWidth - 8, top: 8, bottom: this.canvas.clientHeight - 28};
    const launches = Math.max(1, kernels.length), bytes = Math.max(1, report.arena_bytes);
    return {
      area, launches, bytes,
      x: launch => area.left + launch / launches * (area.right - area.left),
      y: offset => area.bottom - offset / bytes * (area.bottom - area.top),
    };
  }

  find(event) {
    const {area, launches, bytes} = this.scale();
    const launch = (event.offsetX - area.left) / (area.right - area.left) * launches;
    const offset = (area.bottom - event.offsetY) / (area.bottom - area.top) * bytes;
    return report.slots.find(slot => launch >= slot.first && launch < slot.last + 1 &&
      offset >= slot.offset && offset < slot.offset + slot.bytes);
  }

  point(event) {
    const slot = this.find(event);
    this.hover.textContent = slot ? `${slot.type}: ${formatBytes(slot.bytes)} at ${formatCount(slot.offset)}, from ${
      kernels[slot.first]?.name} to ${kernels[slot.last]?.name}` : '\u00a0';
  }

  draw() {
    if (!this.canvas.clientWidth)
      return;
    const {context} = prepareCanvas(this.canvas);
    const {area, launches, bytes, x, y} = this.scale();
    const colors = styleColors();
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colors.faint;
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    for (let i = 0; i <= 4; ++i) {
      const offset = bytes * i / 4;
      context.beginPath();
      context.moveTo(area.left, y(offset));
      context.lineTo(area.right, y(offset));
      context.stroke();
      context.textAlign = 'right';
      context.fillText(formatBytes(offset), area.left - 8, y(offset) + 4);
    }
    context.textAlign = 'left';
    context.fillText('first launch', area.left, area.bottom + 18);
    context.textAlign = 'right';
    context.fillText(`launch ${formatCount(launches)}`, area.right, area.bottom + 18);
    for (const slot of report.slots) {
      const writer = kernels[slot.first];
      const left = x(slot.first), right = x(slot.last + 1), top = y(slot.offset + slot.bytes), bottom = y(slot.offset);
      const width = Math.max(1, right - left - 0.5), height = Math.max(1, bottom - top - 0.5);
      context.fillStyle = colorOf(writer?.type ?? '', 0.7);
      context.fillRect(left, top, width, height);
      if (this.selected !== null && slot.first <= this.selected && this.selected <= slot.last) {
        context.strokeStyle = colors.text;
        context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
      }
      if (width > 90 && height > 14) {
        context.fillStyle = colors.text;
        context.textAlign = 'left';
        context.fillText(shorten(slot.type, Math.floor((width - 8) / 6)), left + 4, top + Math.min(height / 2 + 4, height - 3));
      }
    }
    if (this.selected !== null) {
      context.strokeStyle = colors.accent;
      context.strokeRect(x(this.selected), area.top, x(1) - x(0), area.bottom - area.top);
    }
  }
}
