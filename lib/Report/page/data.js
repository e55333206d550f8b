// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The data of the page: the compiler's report and the profile, joined by the
// names of the kernels.
'use strict';

/** Returns the JSON of an element; an error is shown in the page's head. */
function readData(id) {
  try {
    return JSON.parse(document.getElementById(id).textContent);
  } catch (error) {
    document.getElementById('model').textContent = `The ${id.replace('-data', '')} is not JSON: ${error.message}`;
    throw error;
  }
}

const report = readData('report-data');
const profile = readData('profile-data');

/** Rates that are assumed without a measurement: of a core, and of a data center GPU. */
const ASSUMED = {hertz: 3e9, fmasPerCycle: 2, bytesPerSecond: 20e9, gpuFlops: 60e12, gpuBytesPerSecond: 3e12};

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * Splits the trace into runs: an array a run of {name, events}. A run's own
 * event spans those of its kernels.
 */
function splitRuns(trace) {
  const events = trace.traceEvents.filter(event => event.ph === 'X');
  const kernels = events.filter(event => event.cat === 'kernel');
  const runs = events.filter(event => event.cat === 'run')
                   .map(event => ({begin: event.ts, end: event.ts + event.dur, us: event.dur, kernels: []}))
                   .sort((a, b) => a.begin - b.begin);
  let at = 0;
  for (const event of kernels.sort((a, b) => a.ts - b.ts)) {
    // A launch begins within its run, up to the rounding of the trace.
    while (at + 1 < runs.length && event.ts >= runs[at + 1].begin - 0.002)
      ++at;
    if (runs.length)
      runs[at].kernels.push(event);
  }
  return runs;
}

/**
 * Returns medians over the runs: {us, between, runs, kernels: name -> {us, count, args}}. `between` is the time of a run
 * that is in no kernel.
 */
function measureRuns(trace) {
  const runs = splitRuns(trace);
  const kernels = new Map();
  runs.forEach((run, number) => {
    for (const event of run.kernels) {
      const name = event.args.kernel;
      if (!kernels.has(name))
        kernels.set(name, {times: new Array(runs.length).fill(0), calls: new Array(runs.length).fill(0), args: event.args});
      const entry = kernels.get(name);
      entry.times[number] += event.dur;
      entry.calls[number] += 1;
      entry.args = event.args;
    }
  });
  for (const entry of kernels.values()) {
    entry.us = median(entry.times);
    entry.least = Math.min(...entry.times);
    entry.greatest = Math.max(...entry.times);
    entry.count = Math.round(median(entry.calls));
  }
  const between = runs.map(run => Math.max(0, run.us - run.kernels.reduce((sum, event) => sum + event.dur, 0)));
  return {us: runs.length ? median(runs.map(run => run.us)) : 0, between: runs.length ? median(between) : 0, runs: runs.length, kernels};
}

const measured = profile ? measureRuns(profile.trace) : null;

/** Returns the operator type of a kernel: its name without number and suffix. */
function typeOfKernel(name) {
  return name.replace(/\.\d+$/, '').replace(/_\d+$/, '');
}

function makeKernels() {
  const listed = report ? report.kernels : [...measured.kernels].map(([name, entry]) => ({
    name, function: name.replace(/\.\d+$/, ''), kind: 'tile', nodes: entry.args.nodes ?? [], inputs: [], outputs: [],
    bytes_read: entry.args.bytes_read ?? 0, bytes_written: entry.args.bytes_written ?? 0, bytes_saved: 0,
    flops: entry.args.flops ?? 0, parameters: {},
  }));
  return listed.map((kernel, number) => {
    const entry = measured?.kernels.get(kernel.name);
    // The profile's sizes are those of its runs, not the typical ones.
    const calls = entry ? entry.count : 1;
    const read = entry?.args.bytes_read ?? kernel.bytes_read;
    const written = entry?.args.bytes_written ?? kernel.bytes_written;
    return {
      ...kernel, number, calls, bytesRead: read, bytesWritten: written, bytes: (read + written) * calls,
      flops: (entry?.args.flops ?? kernel.flops) * calls,
      type: typeOfKernel(kernel.function), measured: entry ?? null, us: entry ? entry.us : null,
      programs: entry?.args.programs, threads: entry?.args.threads, device: entry?.args.device,
      code: report?.functions?.[kernel.function] ?? null,
    };
  });
}

const kernels = makeKernels();

const isOnGPU = profile ? profile.device.startsWith('cuda') : report.targets.every(target => target.startsWith('cuda'));

/** The peak rates of the machine, in operations and bytes per second; editable. */
const machine = {
  flops: profile?.limits ? profile.limits.fma_gflops * 1e9 : isOnGPU ? ASSUMED.gpuFlops :
      (report?.vector_bytes || 32) / 4 * 2 * ASSUMED.fmasPerCycle * ASSUMED.hertz,
  bytes: profile?.limits ? profile.limits.copy_gb_s * 1e9 : isOnGPU ? ASSUMED.gpuBytesPerSecond : ASSUMED.bytesPerSecond,
  isMeasured: Boolean(profile?.limits),
};

/** Returns the lower bound of a kernel's time on the machine, in microseconds. */
function roofTime(kernel) {
  return 1e6 * Math.max(kernel.flops / machine.flops, kernel.bytes / machine.bytes);
}

/** Returns the kernel's measured time, or that of the roofline if there is none. */
function timeOf(kernel) {
  return kernel.us ?? (measured ? 0 : roofTime(kernel));
}

/** Returns the kernels of each node; a node may be computed by several. */
const kernelsOfNode = new Map();
for (const kernel of kernels)
  for (const node of kernel.nodes) {
    if (!kernelsOfNode.has(node))
      kernelsOfNode.set(node, []);
    kernelsOfNode.get(node).push(kernel.number);
  }

const colorTexts = new Map();

/** Returns a color; those of adjacent numbers are easy to distinguish. */
function colorOfNumber(number, alpha = 1) {
  const key = number * 1000 + Math.round(alpha * 100);
  if (!colorTexts.has(key))
    colorTexts.set(key, makeColor(number, alpha));
  return colorTexts.get(key);
}

function makeColor(number, alpha) {
  const hue = (212 + number * 137.508) % 360, lightness = [50, 60, 42][Math.floor(number / 7) % 3];
  return `hsl(${hue.toFixed(0)} 55% ${lightness}% / ${alpha})`;
}

const colorNumbers = new Map();

/** Returns the color of an operator type or element type. */
function colorOf(type, alpha = 1) {
  if (!colorNumbers.has(type))
    colorNumbers.set(type, colorNumbers.size);
  return colorOfNumber(colorNumbers.get(type), alpha);
}

// The types that take the longest get the colors that differ most.
for (const kernel of [...kernels].sort((a, b) => timeOf(b) - timeOf(a)))
  colorOf(kernel.type);
