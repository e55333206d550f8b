// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph: of the model, where the nodes of a kernel form a cluster, and of
// the kernels. Drawn on a canvas, of which only what is visible is drawn.
'use strict';

const GRAPH = {labelScale: 0.42, roundScale: 0.25, leastScale: 0.004, mostScale: 3, margin: 30};

/** Shortens a text to a number of characters. */
function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`;
}

function makeBox(label, sub, inputs, properties) {
  const shown = shorten(label, 30), below = shorten(sub, 34);
  const width = Math.min(250, Math.max(84, 24 + 7.4 * shown.length, 20 + 6.2 * below.length));
  return {label: shown, sub: below, inputs, width, height: sub ? 42 : 28, x: 0, y: 0, ...properties};
}

/** The imported graph: a node for each input, op and output. */
function makeModelGraph() {
  const boxes = report.nodes.map((node, number) => {
    const op = node.op.replace(/^graph\./, '');
    const isEnd = op === 'input' || op === 'output';
    const owners = isEnd ? [] : [...new Set(node.nodes.flatMap(name => kernelsOfNode.get(name) ?? []))];
    return makeBox(op, node.nodes.join(', '), node.inputs.filter(input => input < number), {
      isEnd, node, kernels: owners, title: node.nodes[0] ?? op,
      search: `${op} ${node.nodes.join(' ')} ${node.type}`.toLowerCase(),
      cluster: owners.length ? owners[0] : null,
    });
  });
  addMerged(boxes);
  for (const box of boxes)
    box.color = alpha => colorOfNumber(box.cluster, alpha);
  return boxes;
}

/**
 * Adds ops to the cluster that they were merged into: a pattern such as x * sigmoid(x) has the name of one of its nodes.
 * What reads a result of a kernel, and is read by that kernel alone, is computed there.
 */
function addMerged(boxes) {
  const readers = boxes.map(() => []);
  boxes.forEach((box, number) => box.inputs.forEach(input => readers[input].push(number)));
  for (let number = boxes.length - 1; number >= 0; --number) {
    const box = boxes[number];
    if (box.isEnd || box.cluster !== null || !readers[number].length)
      continue;
    const cluster = boxes[readers[number][0]].cluster;
    if (cluster !== null && cluster !== undefined && readers[number].every(reader => boxes[reader].cluster === cluster) &&
        readsFrom(boxes, box, cluster)) {
      box.cluster = cluster;
      box.kernels = [cluster];
    }
  }
}

/** Returns true if the box reads a result of the cluster, also through ops outside of clusters. */
function readsFrom(boxes, box, cluster) {
  return box.inputs.some(input => boxes[input].cluster === cluster ||
    (boxes[input].cluster === null && !boxes[input].isEnd && readsFrom(boxes, boxes[input], cluster)));
}

/** The kernels in their order, after the inputs of the model and before its outputs. */
function makeKernelGraph() {
  const ends = (list, place) => {
    const names = new Map();
    for (const kernel of kernels)
      for (const tensor of kernel[list])
        if (tensor.place === place && !names.has(tensor.name))
          names.set(tensor.name, tensor);
    return names;
  };
  const inputs = [...ends('inputs', 'input').values()];
  const numberOfInput = new Map(inputs.map((tensor, number) => [tensor.name, number]));
  const boxes = inputs.map(tensor => makeBox('input', tensor.name ?? '', [], {
    isEnd: true, node: {op: 'input', nodes: [tensor.name], type: tensor.type}, kernels: [], title: tensor.name,
    search: `input ${tensor.name}`.toLowerCase(),
  }));
  const total = kernels.reduce((sum, kernel) => sum + timeOf(kernel), 0) || 1;
  for (const kernel of kernels) {
    const from = new Set();
    for (const tensor of kernel.inputs) {
      for (const writer of tensor.from ?? [])
        if (writer < kernel.number)
          from.add(inputs.length + writer);
      if (tensor.place === 'input')
        from.add(numberOfInput.get(tensor.name));
    }
    const time = timeOf(kernel);
    boxes.push(makeBox(kernel.name, `${formatTime(time)} \u00b7 ${kernel.nodes.length} node${kernel.nodes.length === 1 ? '' : 's'}`,
      [...from], {
        isEnd: false, kernels: [kernel.number], title: kernel.name, cluster: kernel.number, color: alpha => colorOf(kernel.type, alpha), share: time / total,
        search: `${kernel.name} ${kernel.nodes.join(' ')}`.toLowerCase(),
      }));
  }
  const writers = new Map();
  for (const kernel of kernels)
    for (const tensor of kernel.outputs)
      if (tensor.place === 'output')
        writers.set(tensor.name, [...writers.get(tensor.name) ?? [], inputs.length + kernel.number]);
  for (const [name, tensor] of ends('outputs', 'output'))
    boxes.push(makeBox('output', name ?? '', [...new Set(writers.get(name))], {
      isEnd: true, node: {op: 'output', nodes: [name], type: tensor.type}, kernels: [], title: name,
      search: `output ${name}`.toLowerCase(),
    }));
  return boxes;
}

class GraphView {
  constructor(canvas, onSelect) {
    this.canvas = canvas;
    this.onSelect = onSelect;
    this.graphs = {};
    this.found = new Set();
    this.selected = null; // a kernel's number
    this.box = -1;        // the box that was clicked
    canvas.addEventListener('pointerdown', event => this.grab(event));
    canvas.addEventListener('wheel', event => this.wheel(event), {passive: false});
    canvas.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  /** Shows "before" or "after"; the layout is computed when it is first shown. */
  show(which) {
    if (!this.graphs[which]) {
      const boxes = which === 'before' ? makeModelGraph() : makeKernelGraph();
      const edges = placeNodes(boxes);
      for (const edge of edges)
        addBounds(edge, boxes);
      this.graphs[which] = {boxes, edges, view: null};
    }
    this.which = which;
    this.box = -1;
    this.search(this.query ?? '');
    if (!this.current.view)
      this.fit();
    this.at = null;
    this.showNext();
  }

  get current() { return this.graphs[this.which]; }

  /** Shows all of the graph, or its beginning if that would be too small to read. */
  fit(all = false) {
    const {boxes} = this.current;
    if (!boxes.length) {
      this.current.view = {scale: 1, x: 0, y: 0};
      return;
    }
    const left = Math.min(...boxes.map(box => box.x - box.width / 2)), right = Math.max(...boxes.map(box => box.x + box.width / 2));
    const top = Math.min(...boxes.map(box => box.y - box.height / 2)), bottom = Math.max(...boxes.map(box => box.y + box.height / 2));
    const width = this.canvas.clientWidth - 2 * GRAPH.margin, height = this.canvas.clientHeight - 2 * GRAPH.margin;
    const whole = Math.min(1.2, width / (right - left), height / (bottom - top));
    const scale = Math.max(GRAPH.leastScale, all ? whole : Math.max(whole, 0.75));
    const x = this.canvas.clientWidth / 2 - scale * (scale > whole ? boxes[0].x : (left + right) / 2);
    const y = scale > whole ? GRAPH.margin - scale * top : this.canvas.clientHeight / 2 - scale * (top + bottom) / 2;
    this.current.view = {scale, x, y};
    this.redraw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const view = this.current.view;
    const scale = Math.min(GRAPH.mostScale, Math.max(GRAPH.leastScale, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    this.redraw();
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
  }

  key(event) {
    const moves = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]};
    if (moves[event.key]) {
      this.current.view.x += moves[event.key][0];
      this.current.view.y += moves[event.key][1];
    } else if (event.key === '+' || event.key === '-') {
      this.zoom(event.key === '+' ? 1.25 : 0.8);
    } else {
      return;
    }
    event.preventDefault();
    this.redraw();
  }

  /** Moves the graph with the pointer; a click without a move selects. */
  grab(event) {
    const start = {x: event.clientX, y: event.clientY}, view = this.current.view, from = {...view};
    let moved = false; // is a drag
    this.canvas.setPointerCapture(event.pointerId);
    const move = at => {
      moved ||= Math.hypot(at.clientX - start.x, at.clientY - start.y) > 4;
      this.canvas.classList.toggle('moving', moved);
      view.x = from.x + at.clientX - start.x;
      view.y = from.y + at.clientY - start.y;
      this.redraw();
    };
    const end = at => {
      this.canvas.removeEventListener('pointermove', move);
      this.canvas.removeEventListener('pointerup', end);
      this.canvas.classList.remove('moving');
      if (!moved)
        this.click(at.offsetX, at.offsetY);
    };
    this.canvas.addEventListener('pointermove', move);
    this.canvas.addEventListener('pointerup', end);
  }

  click(x, y) {
    const {view, boxes} = this.current;
    const gx = (x - view.x) / view.scale, gy = (y - view.y) / view.scale;
    this.box = boxes.findIndex(box => Math.abs(box.x - gx) <= box.width / 2 && Math.abs(box.y - gy) <= box.height / 2);
    this.onSelect(this.box < 0 ? null : boxes[this.box]);
    this.redraw();
  }

  /** Marks matches, scrolls to the first one, and returns their number. */
  search(query) {
    this.query = query;
    const wanted = query.trim().toLowerCase();
    this.found = new Set();
    if (wanted)
      for (const box of this.current.boxes)
        if (box.search.includes(wanted))
          this.found.add(box);
    return this.found.size;
  }

  /** Scrolls to the next match. */
  showNext() {
    const all = [...this.found];
    if (!all.length)
      return this.redraw();
    this.at = all[(all.indexOf(this.at) + 1) % all.length];
    this.center(this.at);
  }

  center(box) {
    const view = this.current.view;
    view.scale = Math.max(view.scale, 0.7);
    view.x = this.canvas.clientWidth / 2 - view.scale * box.x;
    view.y = this.canvas.clientHeight / 2 - view.scale * box.y;
    this.redraw();
  }

  select(kernel) {
    this.selected = kernel;
    this.redraw();
  }

  redraw() {
    if (this.pending)
      return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      if (this.which && this.canvas.clientWidth)
        this.draw();
    });
  }

  draw() {
    const {context, width, height} = prepareCanvas(this.canvas);
    const {view, boxes, edges} = this.current;
    this.colors = styleColors();
    context.translate(view.x, view.y);
    context.scale(view.scale, view.scale);
    const seen = {
      left: -view.x / view.scale, top: -view.y / view.scale,
      right: (width - view.x) / view.scale, bottom: (height - view.y) / view.scale,
    };
    const overlaps = (left, top, right, bottom) =>
      right >= seen.left && left <= seen.right && bottom >= seen.top && top <= seen.bottom;
    // At low zoom, a box is a plain rectangle and an edge a straight line.
    this.isFar = view.scale < GRAPH.roundScale;
    const visible = boxes.filter(box => overlaps(box.x - box.width / 2 - 10, box.y - box.height / 2 - 10,
      box.x + box.width / 2 + 10, box.y + box.height / 2 + 10));
    const lines = edges.filter(edge => overlaps(...edge.bounds));
    if (this.which === 'before' && !this.isFar)
      this.drawClusters(context, visible, lines, boxes);
    this.drawEdges(context, lines, boxes, view.scale);
    for (const box of visible)
      if (this.isFar && !this.found.size && !this.isSelected(box))
        this.drawFarBox(context, box);
      else
        this.drawBox(context, box, view.scale);
  }

  /** A cluster is a band around the boxes of a kernel and the edges between them. */
  drawClusters(context, visible, lines, boxes) {
    for (const edge of lines) {
      const from = boxes[edge.from], to = boxes[edge.to];
      if (from.cluster === null || from.cluster === undefined || from.cluster !== to.cluster)
        continue;
      context.strokeStyle = from.color(0.3);
      context.lineWidth = 22;
      context.beginPath();
      tracePath(context, edge, boxes, false);
      context.stroke();
    }
    for (const box of visible) {
      if (box.isEnd || box.cluster === null)
        continue;
      context.fillStyle = box.color(0.3);
      this.traceRect(context, box, 8, 14);
      context.fill();
    }
  }

  /** Begins a path around a box. */
  traceRect(context, box, margin, radius) {
    context.beginPath();
    context[this.isFar ? 'rect' : 'roundRect'](box.x - box.width / 2 - margin, box.y - box.height / 2 - margin,
      box.width + 2 * margin, box.height + 2 * margin, radius);
  }

  drawEdges(context, lines, boxes, scale) {
    context.lineWidth = Math.max(1.2, 0.7 / scale);
    for (const isSelected of [false, true]) {
      context.strokeStyle = isSelected ? this.colors.accent : this.colors.faint;
      context.globalAlpha = isSelected ? 1 : 0.55;
      context.beginPath();
      for (const edge of lines) {
        const touches = this.isSelected(boxes[edge.from]) || this.isSelected(boxes[edge.to]);
        if (touches === isSelected)
          tracePath(context, edge, boxes, this.isFar);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  isSelected(box) {
    return this.selected !== null && box.kernels.includes(this.selected);
  }

  drawFarBox(context, box) {
    context.fillStyle = box.isEnd || box.cluster === null ? this.colors.faint : box.color(1);
    context.fillRect(box.x - box.width / 2, box.y - box.height / 2, box.width, box.height);
  }

  drawBox(context, box, scale) {
    const left = box.x - box.width / 2, top = box.y - box.height / 2;
    const isFound = this.found.has(box);
    context.globalAlpha = this.found.size && !isFound ? 0.45 : 1;
    context.fillStyle = box.isEnd ? this.colors.track : this.colors.card;
    context.strokeStyle = this.isSelected(box) ? this.colors.accent : this.colors.line;
    context.lineWidth = this.isSelected(box) ? 3 : 1.2;
    this.traceRect(context, box, 0, box.isEnd ? 14 : 7);
    context.fill();
    if (!this.isFar)
      context.stroke();
    if (isFound) {
      context.strokeStyle = this.colors.halo;
      context.lineWidth = 4 / Math.min(1, scale);
      context.stroke();
    }
    if (!box.isEnd && box.cluster !== null) {
      context.fillStyle = box.color(1);
      context.beginPath();
      context.roundRect(left, top, this.isFar ? box.width : 6, box.height, [7, 0, 0, 7]);
      context.fill();
    }
    if (box.share !== undefined && !this.isFar) {
      context.fillStyle = box.color(0.85);
      context.fillRect(left + 6, top + box.height - 4, (box.width - 10) * box.share, 3);
    }
    if (scale >= GRAPH.labelScale) {
      context.textAlign = 'center';
      context.fillStyle = this.colors.text;
      context.font = '600 12px system-ui, sans-serif';
      context.fillText(box.label, box.x + 2, box.sub ? box.y - 3 : box.y + 4, box.width - 16);
      context.fillStyle = this.colors.faint;
      context.font = '11px system-ui, sans-serif';
      context.fillText(box.sub, box.x + 2, box.y + 12, box.width - 16);
    }
    context.globalAlpha = 1;
  }
}

/** The points of an edge from the bottom of one box to the top of another. */
function pointsOf(edge, boxes) {
  const from = boxes[edge.from], to = boxes[edge.to];
  return [[from.x, from.y + from.height / 2], ...edge.points, [to.x, to.y - to.height / 2]];
}

function addBounds(edge, boxes) {
  const points = pointsOf(edge, boxes), xs = points.map(point => point[0]), ys = points.map(point => point[1]);
  edge.bounds = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** Adds the edge to the current path, as a curve or as straight lines. */
function tracePath(context, edge, boxes, isStraight) {
  const points = pointsOf(edge, boxes);
  context.moveTo(...points[0]);
  for (let i = 1; i < points.length; ++i) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i], middle = (y0 + y1) / 2;
    if (isStraight)
      context.lineTo(x1, y1);
    else
      context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  }
}
