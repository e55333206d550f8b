// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The page: tabs, theme, and the selection in all views.
'use strict';

const $ = id => document.getElementById(id);

const views = {graph: null, arena: null, table: null};
let selected = null; // a kernel's number

function select(number) {
  selected = number;
  showPanel(number === null ? null : kernelPanel(kernels[number]));
  views.graph?.select(number);
  views.arena?.select(number);
  views.table.select(number);
  for (const circle of document.querySelectorAll('#roofline circle'))
    circle.classList.toggle('selected', Number(circle.dataset.kernel) === number);
}

function showPanel(content) {
  $('panel').hidden = !content;
  if (content)
    $('panel').replaceChildren(element('button', {class: 'close', 'aria-label': 'Close', onclick: () => select(null)}, '\u00d7'), ...content);
}

/** Handles a click on a box of the graph: selects its kernel, if there is only one. */
function selectBox(box) {
  if (!box)
    return select(null);
  if (!box.node)
    return select(box.kernels[0]);
  select(box.kernels.length ? box.kernels[0] : null);
  showPanel(nodePanel(box, select));
  if (box.kernels.length)
    $('panel').append(element('hr'), ...kernelPanel(kernels[box.kernels[0]]));
}

//===----------------------------------------------------------------------===//
// Overview
//===----------------------------------------------------------------------===//

function drawHeader() {
  const trace = profile?.trace.traceEvents.find(event => event.ph === 'M');
  const name = report?.model ?? trace?.args.name ?? '';
  document.title = name;
  $('model').textContent = name;
  const symbols = Object.entries(report?.symbols ?? {}).map(([key, value]) => `${key}=${formatCount(value)}`);
  $('summary').textContent = [
    report ? `${report.producer}, -O${report.opt_level} for ${report.targets.join(', ')}` : null,
    symbols.length ? `sizes at ${symbols.join(', ')}` : null,
    measured ? `measured on ${profile.device}, ${formatCount(profile.threads)} threads, medians of ${formatCount(measured.runs)} runs` : null,
    report && measured && !kernels.some(kernel => kernel.measured) ? 'the report belongs to another module: none of its kernels was measured' : null,
  ].filter(Boolean).join(' \u00b7 ');
}

function drawFigures() {
  const sum = key => kernels.reduce((total, kernel) => total + kernel[key], 0);
  const time = kernels.reduce((total, kernel) => total + timeOf(kernel), 0);
  const code = new Map(kernels.map(kernel => [kernel.code?.same_code_as ?? kernel.function, codeBytes(kernel)]));
  const figures = [
    measured ? [formatTime(measured.us), `a run, median of ${formatCount(measured.runs)}`] : [formatTime(time), 'lower bound of a run, by the roofline'],
    [formatCount(kernels.length), report ? `launches of ${formatCount(report.nodes.filter(node => !['input', 'output'].includes(node.op)).length)} ops` : 'kernels'],
    [formatFlops(sum('flops')), 'operations in a run'],
    [formatBytes(sum('bytes')), 'read and written in a run'],
  ];
  if (measured)
    figures.push([formatFlopRate(sum('flops') / measured.us * 1e6), 'rate of a run']);
  const allCode = [...code.values()].reduce((a, b) => a + b, 0);
  if (report)
    figures.push([formatBytes(report.weights_bytes), 'weights'],
      [formatBytes(report.arena_bytes), `arena (lower bound ${formatBytes(report.arena_lower_bound_bytes)})`]);
  if (allCode)
    figures.push([formatBytes(allCode), 'machine code of the kernels']);
  $('figures').replaceChildren(...figures.map(([value, text]) => element('div', {class: 'figure'}, element('b', {}, value), element('span', {}, text))));
}

function drawOverview() {
  for (const note of document.querySelectorAll('.time-note'))
    note.textContent = measured ? 'Medians of the profile; the mark is the lower bound by the roofline.' :
      'Not measured: lower bounds by the roofline below.';
  $('roof-note').textContent = machine.isMeasured ? 'The roofline was measured after the runs: f32 multiply-adds in registers, and a copy in memory. Data in caches and products of narrow types may exceed it. Both numbers can be changed.' :
    `The roofline is an assumption (${isOnGPU ? 'a GPU of 60 TFLOP/s and 3 TB/s' :
      'one core at 3 GHz with two multiply-add units, 20 GB/s'}): set the numbers of your machine.`;
  drawFigures();
  drawTimes(select);
  drawRoofline($('roofline'), select, selected);
}

function prepareMachine() {
  $('peak-flops').value = +(machine.flops / 1e9).toPrecision(4);
  $('peak-bytes').value = +(machine.bytes / 1e9).toPrecision(4);
  $('machine').addEventListener('submit', event => event.preventDefault());
  $('machine').addEventListener('input', () => {
    const flops = Number($('peak-flops').value), bytes = Number($('peak-bytes').value);
    if (!(flops > 0 && bytes > 0))
      return;
    machine.flops = flops * 1e9;
    machine.bytes = bytes * 1e9;
    drawFigures();
    drawTimes(select);
    drawRoofline($('roofline'), select, selected);
    views.table.draw();
  });
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

function prepareGraph() {
  const view = views.graph = new GraphView($('graph'), selectBox);
  const notes = {
    before: 'The imported model; a band of one color is a kernel. Drag to move, scroll to zoom, click a node.',
    after: 'Kernels in the order of their data; the line at the bottom of a box is its share of the time.',
  };
  const showFound = () => { $('graph-found').textContent = view.query.trim() ? `${formatCount(view.found.size)} found` : ''; };
  const show = which => {
    $('graph-before').setAttribute('aria-pressed', which === 'before');
    $('graph-after').setAttribute('aria-pressed', which === 'after');
    $('graph-note').textContent = notes[which];
    view.show(which);
    showFound();
  };
  $('graph-before').addEventListener('click', () => show('before'));
  $('graph-after').addEventListener('click', () => show('after'));
  $('graph-in').addEventListener('click', () => view.zoom(1.3));
  $('graph-out').addEventListener('click', () => view.zoom(1 / 1.3));
  $('graph-fit').addEventListener('click', () => view.fit(true));
  $('graph-search').addEventListener('input', event => {
    view.search(event.target.value);
    view.at = null;
    view.showNext();
    showFound();
  });
  $('graph-search').addEventListener('keydown', event => {
    if (event.key === 'Enter')
      view.showNext();
  });
  return () => view.which ? view.redraw() : show(report.nodes.length ? 'before' : 'after');
}

function prepareKernels() {
  views.table = new KernelTable($('kernels'), select);
  const draw = () => {
    const count = views.table.draw();
    $('kernel-found').textContent = count === kernels.length ? `${formatCount(count)} launches` : `${formatCount(count)} of ${formatCount(kernels.length)}`;
  };
  $('kernel-search').addEventListener('input', event => {
    views.table.query = event.target.value.trim().toLowerCase();
    draw();
  });
  return draw;
}

function prepareMemory() {
  $('arena-note').textContent = `${formatBytes(report.arena_bytes)} for ${formatCount(report.slots.length)} tensors; no placement needs less than ${
    formatBytes(report.arena_lower_bound_bytes)}. Across: launches in their order; up: offsets. The color is the kernel that writes.`;
  views.arena = new ArenaView($('arena'), $('arena-hover'), select);
  drawWeights();
  return () => views.arena.draw();
}

/** Shows one view at a time; a view is drawn when it is shown. */
function prepareTabs(onShow) {
  const sections = [...document.querySelectorAll('#views section')].filter(section => onShow[section.id.replace('view-', '')]);
  for (const section of document.querySelectorAll('#views section'))
    section.hidden = true;
  const show = section => {
    for (const other of sections)
      other.hidden = other !== section;
    for (const tab of $('tabs').children)
      tab.setAttribute('aria-selected', tab.id === section.id.replace('view', 'tab'));
    onShow[section.id.replace('view-', '')]();
  };
  for (const section of sections) {
    const name = section.dataset.title;
    const count = section.id === 'view-refusals' ? ` (${formatCount(report.refusals.length)})` : section.id === 'view-kernels' ? ` (${formatCount(kernels.length)})` : '';
    $('tabs').append(element('button', {id: section.id.replace('view', 'tab'), role: 'tab', onclick: () => show(section)}, name + count));
  }
  show(sections[0]);
}

/** Switches the theme from the system's to light to dark. */
function prepareTheme(redraw) {
  const names = ['system', 'light', 'dark'];
  let at = 0;
  $('theme').addEventListener('click', () => {
    at = (at + 1) % names.length;
    document.documentElement.dataset.theme = names[at];
    $('theme').textContent = `Theme: ${names[at]}`;
    redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

drawHeader();
const onShow = {overview: drawOverview};
const drawKernels = prepareKernels();
if (report)
  onShow.graph = prepareGraph();
onShow.kernels = drawKernels;
if (report) {
  onShow.memory = prepareMemory();
  onShow.refusals = drawRefusals;
}
prepareMachine();
prepareTabs(onShow);
prepareTheme(() => {
  views.graph?.redraw();
  views.arena?.draw();
});
