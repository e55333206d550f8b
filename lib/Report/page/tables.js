// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tables of kernels, weights and refusals, and the panel of the selection.
'use strict';

/** Columns of the kernels' table: [title, key of a row, cell, is a number]. */
function kernelColumns() {
  const columns = [
    ['Kernel', kernel => kernel.number, kernel => element('span', {},
      element('span', {class: 'swatch', style: `background:${colorOf(kernel.type)}`}), kernel.name,
      kernel.kind === 'tile' ? null : ' ', kernel.kind === 'tile' ? null : element('span', {class: 'tag warn'}, 'reference')), false],
    ['Nodes', kernel => kernel.nodes.join(', '), kernel => kernel.nodes.join(', '), false],
    [measured ? 'Time' : 'Time, lower bound', timeOf, kernel => formatTime(timeOf(kernel)), true],
  ];
  if (measured)
    columns.push(['Of the roofline', kernel => timeOf(kernel) ? roofTime(kernel) / timeOf(kernel) : 0,
      kernel => timeOf(kernel) ? formatPercent(roofTime(kernel) / timeOf(kernel)) : '', true]);
  columns.push(
    ['FLOP', kernel => kernel.flops, kernel => formatFlops(kernel.flops).replace('FLOP', ''), true],
    ['Read', kernel => kernel.bytesRead, kernel => formatBytes(kernel.bytesRead), true],
    ['Written', kernel => kernel.bytesWritten, kernel => formatBytes(kernel.bytesWritten), true]);
  if (report)
    columns.push(['Code', codeBytes, kernel => codeBytes(kernel) ? formatBytes(codeBytes(kernel)) : '', true]);
  return columns;
}

/** Returns the bytes of a kernel's machine code for the first target, or 0. */
function codeBytes(kernel) {
  const code = kernel.code?.same_code_as ? report.functions[kernel.code.same_code_as] : kernel.code;
  return Object.values(code?.code_bytes ?? {})[0] ?? 0;
}

const ROWS_AT_ONCE = 100;

class KernelTable {
  constructor(table, onSelect) {
    this.table = table;
    this.onSelect = onSelect;
    this.columns = kernelColumns();
    this.sort = 2;
    this.isAscending = false;
    this.query = '';
    // Rows are created when the last one becomes visible.
    this.observer = new IntersectionObserver(entries => {
      if (entries.some(entry => entry.isIntersecting))
        this.addRows();
    });
  }

  /** Returns how many kernels match. */
  draw() {
    const key = this.columns[this.sort][1];
    const matches = kernels.filter(kernel => !this.query ||
      `${kernel.name} ${kernel.kind} ${kernel.nodes.join(' ')}`.toLowerCase().includes(this.query));
    const compare = (a, b) => {
      const x = key(a), y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (this.isAscending ? 1 : -1) || a.number - b.number;
    };
    const head = element('tr', {}, ...this.columns.map(([title, , , isNumber], column) => element('th', {
      'data-sort': column, class: isNumber ? 'number' : null,
      'aria-sort': column === this.sort ? (this.isAscending ? 'ascending' : 'descending') : null,
      onclick: () => {
        this.isAscending = column === this.sort ? !this.isAscending : !isNumber;
        this.sort = column;
        this.draw();
      },
    }, title)));
    this.body = element('tbody');
    this.table.replaceChildren(element('thead', {}, head), this.body);
    this.rest = [...matches].sort(compare);
    this.addRows();
    return matches.length;
  }

  addRows() {
    this.observer.disconnect();
    this.body.append(...this.rest.splice(0, ROWS_AT_ONCE).map(kernel => element('tr', {
      'data-kernel': kernel.number, class: kernel.number === this.selected ? 'selected' : null,
      onclick: () => this.onSelect(kernel.number),
    }, ...this.columns.map(([, , cell, isNumber]) => element('td', {class: isNumber ? 'number' : null}, cell(kernel))))));
    if (this.rest.length)
      this.observer.observe(this.body.lastChild);
  }

  select(number) {
    this.selected = number;
    for (const row of this.table.querySelectorAll('tr[data-kernel]'))
      row.classList.toggle('selected', Number(row.dataset.kernel) === number);
  }
}

const MOST_WEIGHTS = 40;

function drawWeights() {
  const types = new Map();
  for (const weight of report.weights) {
    const type = weight.type.split(' ')[0];
    const sum = types.get(type) ?? {type, bytes: 0, count: 0};
    sum.bytes += weight.bytes;
    sum.count += 1;
    types.set(type, sum);
  }
  const total = report.weights.reduce((sum, weight) => sum + weight.bytes, 0) || 1;
  drawBars(document.getElementById('weights-by-type'), [...types.values()].sort((a, b) => b.bytes - a.bytes).map(sum => ({
    name: `${sum.type} (${formatCount(sum.count)})`, value: sum.bytes, color: colorOf(sum.type),
    text: `${formatBytes(sum.bytes)} \u00b7 ${formatPercent(sum.bytes / total)}`,
    title: `${formatCount(sum.count)} constants, ${formatCount(sum.bytes)} bytes`,
  })));
  const largest = [...report.weights].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_WEIGHTS);
  document.getElementById('weights').replaceChildren(
    element('thead', {}, element('tr', {}, element('th', {}, 'Type'), element('th', {}, 'Read by'), element('th', {class: 'number'}, 'Bytes'))),
    element('tbody', {}, ...largest.map(weight => element('tr', {}, element('td', {class: 'mono'}, weight.type),
      element('td', {}, shorten(weight.kernels.map(number => kernels[number].name).join(', '), 48)), element('td', {class: 'number'}, formatCount(weight.bytes))))));
}

/** Creates a fold for each reason, the most frequent first. */
function drawRefusals() {
  const reasons = new Map();
  for (const refusal of report.refusals) {
    const key = `${refusal.pattern}: ${refusal.reason}`;
    reasons.set(key, [...reasons.get(key) ?? [], refusal]);
  }
  const folds = [...reasons].sort((a, b) => b[1].length - a[1].length).map(([reason, list]) => element('details', {},
    element('summary', {}, element('b', {}, `${formatCount(list.length)}\u00d7 `), reason),
    element('div', {class: 'scroll'}, element('table', {},
      element('thead', {}, element('tr', {}, element('th', {}, 'Op'), element('th', {}, 'Node'), element('th', {}, 'Reads'))),
      element('tbody', {}, ...list.map(refusal => element('tr', {}, element('td', {class: 'mono'}, refusal.op),
        element('td', {}, refusal.node),
        element('td', {}, refusal.producer ? `${refusal.producer} ${refusal.producer_node ?? ''}` : ''))))))));
  document.getElementById('refusals').replaceChildren(...folds.length ? folds : [element('p', {}, 'There are no refusals.')]);
}

//===----------------------------------------------------------------------===//
// The panel
//===----------------------------------------------------------------------===//

function definitions(rows) {
  return element('dl', {}, ...rows.filter(row => row[1] !== null && row[1] !== undefined && row[1] !== '')
    .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}

function describeTensor(tensor) {
  const writers = (tensor.from ?? []).map(number => kernels[number]?.name);
  const place = {input: `input ${tensor.name ?? ''}`, output: `output ${tensor.name ?? ''}`, weights: 'weights',
    arena: 'arena', box: 'memory of its own'}[tensor.place] ?? '';
  return element('li', {}, element('span', {class: 'mono'}, tensor.type),
    element('span', {class: 'faint'}, ` ${formatBytes(tensor.bytes)}, ${place}${writers.length ? ` from ${writers.join(', ')}` : ''}`));
}

function kernelPanel(kernel) {
  const time = timeOf(kernel), roof = roofTime(kernel);
  const bound = kernel.flops / machine.flops > kernel.bytes / machine.bytes ? 'arithmetic' : 'memory';
  const list = (title, items) => items.length ? [element('h3', {}, title), element('ul', {}, ...items)] : [];
  const code = Object.entries((kernel.code?.same_code_as ? report.functions[kernel.code.same_code_as] : kernel.code)?.code_bytes ?? {});
  const parameters = [...Object.entries(kernel.parameters ?? {}),
    ...Object.entries(kernel.parameters_cuda ?? {}).map(([name, value]) => [`${name} (CUDA)`, value])];
  return [
    element('h2', {}, kernel.name),
    element('span', {class: kernel.kind === 'tile' ? 'tag' : 'tag warn'}, kernel.kind === 'tile' ? 'tile kernel' : 'reference path'),
    definitions([
      ['measured', kernel.us === null ? null : `${formatTime(kernel.us)} (${formatTime(kernel.measured.least)} to ${formatTime(kernel.measured.greatest)})`],
      ['lower bound, by ' + bound, formatTime(roof)],
      ['of the roofline', kernel.us ? formatPercent(roof / time) : null],
      ['launches in a run', kernel.calls > 1 ? formatCount(kernel.calls) : null],
      ['operations', formatFlops(kernel.flops)],
      ['bytes read', formatCount(kernel.bytesRead)],
      ['bytes written', formatCount(kernel.bytesWritten)],
      ['bytes saved by fusion', kernel.bytes_saved ? formatCount(kernel.bytes_saved) : null],
      ['programs', kernel.programs === undefined ? null : formatCount(kernel.programs)],
      ['threads', kernel.threads === undefined ? null : formatCount(kernel.threads)],
      ...code.map(([cpu, bytes]) => [`machine code (${cpu})`, `${formatCount(bytes)} bytes`]),
      ['same code as', kernel.code?.same_code_as],
    ]),
    ...kernel.refusal ? [element('h3', {}, 'No tile form'), element('p', {}, kernel.refusal)] : [],
    ...list(`Nodes (${formatCount(kernel.nodes.length)})`, kernel.nodes.map(node => element('li', {}, node))),
    ...parameters.length ? [element('h3', {}, 'Tiles and schedule'), definitions(parameters.map(([name, value]) => [name, formatCount(value)]))] : [],
    ...list('Reads', kernel.inputs.map(describeTensor)),
    ...list('Writes', kernel.outputs.map(describeTensor)),
    ...kernel.code?.text ? [element('details', {}, element('summary', {}, 'IR of the kernel'), element('pre', {}, kernel.code.text))] : [],
  ];
}

/** Shows an input, output or op of the model; an op has links to its kernels. */
function nodePanel(box, onSelect) {
  const {node} = box;
  return [
    element('h2', {}, box.title || node.op),
    definitions([['operator', node.op], ['type', node.type]]),
    ...box.kernels.length ? [element('h3', {}, 'Computed by'), element('ul', {}, ...box.kernels.map(number =>
      element('li', {}, element('a', {class: 'link', onclick: () => onSelect(number)}, kernels[number].name))))] :
      box.isEnd ? [] : [element('p', {class: 'note'}, 'No kernel lists this node: it was folded, merged with its neighbours, or is a view of other memory.')],
    ...node.weights?.length ? [element('h3', {}, 'Constants'), element('ul', {}, ...node.weights.map(type => element('li', {class: 'mono'}, type)))] : [],
  ];
}
