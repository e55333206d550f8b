// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes the layout of a graph: layers by the longest path, in each of them an
// order with few crossings, then columns near the adjacent nodes.
'use strict';

const LAYOUT = {sweeps: 6, rowGap: 38, columnGap: 22};

/**
 * Places nodes {width, height, inputs: [number]}, whose inputs have smaller
 * numbers: sets x and y of their centers. An edge over several layers gets a
 * point in each, in `edges`: [{from, to, points: [[x, y]..]}].
 */
function placeNodes(nodes) {
  const layers = assignLayers(nodes);
  const cells = [];
  const rows = [];
  const addCell = (layer, width, node) => {
    const cell = {layer, width, node, above: [], below: [], x: 0, at: 0};
    (rows[layer] ??= []).push(cell);
    cells.push(cell);
    return cell;
  };
  const ofNode = nodes.map((node, number) => addCell(layers[number], node.width, number));
  const edges = [];
  nodes.forEach((node, to) => {
    for (const from of node.inputs) {
      let last = ofNode[from];
      const chain = [];
      for (let layer = layers[from] + 1; layer <= layers[to]; ++layer) {
        const cell = layer === layers[to] ? ofNode[to] : addCell(layer, 8, -1);
        last.below.push(cell);
        cell.above.push(last);
        if (cell.node < 0)
          chain.push(cell);
        last = cell;
      }
      edges.push({from, to, chain});
    }
  });
  orderRows(rows);
  placeColumns(rows);
  placeLayers(nodes, rows);
  for (const cell of cells)
    if (cell.node >= 0)
      nodes[cell.node].x = cell.x;
  return edges.map(({from, to, chain}) => ({from, to, points: chain.map(cell => [cell.x, cell.y])}));
}

/** Returns each node's layer. A node without operands is just above its first user. */
function assignLayers(nodes) {
  const layers = nodes.map(() => 0);
  nodes.forEach((node, number) => {
    for (const input of node.inputs)
      layers[number] = Math.max(layers[number], layers[input] + 1);
  });
  const first = nodes.map(() => Infinity);
  nodes.forEach((node, number) => node.inputs.forEach(input => {
    first[input] = Math.min(first[input], layers[number]);
  }));
  nodes.forEach((node, number) => {
    if (!node.inputs.length && first[number] < Infinity)
      layers[number] = first[number] - 1;
  });
  return layers;
}

function orderRows(rows) {
  const number = row => row.forEach((cell, at) => { cell.at = at; });
  rows.forEach(number);
  for (let sweep = 0; sweep < LAYOUT.sweeps; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      for (const cell of row) {
        const near = isDown ? cell.above : cell.below;
        cell.key = near.length ? near.reduce((sum, other) => sum + other.at, 0) / near.length : cell.at;
      }
      row.sort((a, b) => a.key - b.key);
      number(row);
    }
  }
}

/** Moves each cell towards its adjacent nodes, as far as the cells of its row allow. */
function placeColumns(rows) {
  for (const row of rows) {
    let x = 0;
    for (const cell of row) {
      cell.x = x + cell.width / 2;
      x += cell.width + LAYOUT.columnGap;
    }
    row.forEach(cell => { cell.x -= x / 2; });
  }
  for (let sweep = 0; sweep < LAYOUT.sweeps; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse())
      placeRow(row, cell => isDown ? cell.above : cell.below);
  }
}

/**
 * Places a row: neighbours whose preferred places overlap form a block, whose
 * place is the mean of the preferred places of its cells.
 */
function placeRow(row, near) {
  const blocks = [];
  for (const cell of row) {
    const others = near(cell);
    const wanted = others.length ? others.reduce((sum, other) => sum + other.x, 0) / others.length : cell.x;
    const weight = others.length ? (cell.node < 0 ? 4 : 1) : 0.1;
    let block = {cells: [cell], offsets: [0], sum: wanted * weight, weight, end: 0};
    for (let before = blocks.at(-1); before; before = blocks.at(-1)) {
      const previous = before.cells.at(-1);
      const distance = (previous.width + block.cells[0].width) / 2 + LAYOUT.columnGap;
      if (before.sum / before.weight + before.end + distance <= block.sum / block.weight)
        break;
      blocks.pop();
      const shift = before.end + distance;
      block = {
        cells: before.cells.concat(block.cells),
        offsets: before.offsets.concat(block.offsets.map(offset => offset + shift)),
        sum: before.sum + block.sum - shift * block.weight,
        weight: before.weight + block.weight,
        end: shift + block.end,
      };
    }
    blocks.push(block);
  }
  for (const block of blocks)
    block.cells.forEach((cell, i) => { cell.x = block.sum / block.weight + block.offsets[i]; });
}

function placeLayers(nodes, rows) {
  let y = 0;
  for (const row of rows) {
    const height = Math.max(16, ...row.map(cell => cell.node < 0 ? 0 : nodes[cell.node].height));
    for (const cell of row) {
      cell.y = y + height / 2;
      if (cell.node >= 0)
        nodes[cell.node].y = cell.y;
    }
    y += height + LAYOUT.rowGap;
  }
}
