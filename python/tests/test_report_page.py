# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""The page of --report and --profile in headless Chromium: texts, clicks, screenshots.

ADZE_SCREENSHOTS=DIR keeps the screenshots."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import browser
import pytest
from conftest import DIGITS, ROOT, parse

BIN = ROOT / "build" / "bin"
pytestmark = [
    pytest.mark.skipif(not browser.find(), reason="no Chromium: scripts/setup.sh models installs Debian's"),
    pytest.mark.skipif(not (BIN / "atranslate").exists(), reason="no atranslate in build/bin"),
]


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Writes the report of the digits model as page and as JSON, and a page of measured runs."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("report.html", "report.json"):
        run(BIN / "atranslate", DIGITS / "digits.onnx", "-o", folder / "digits.so", f"--report={folder / name}")
    run(BIN / "arun", folder / "digits.so", "--random", "--shape", "image=64x1x8x8", "--iterations", "5",
        "--report", folder / "report.json", "--profile", folder / "measured.html", "--profile", folder / "trace.json")
    run(BIN / "arun", folder / "digits.so", "--random", "--profile", folder / "alone.html")
    return folder


@pytest.fixture
def shoot(tmp_path):
    """Takes a screenshot and returns its number of colors."""
    target = pathlib.Path(os.environ.get("ADZE_SCREENSHOTS", tmp_path))
    target.mkdir(exist_ok=True)

    def take(page, name):
        page.screenshot(target / f"{name}.png")
        assert (target / f"{name}.png").stat().st_size > 10_000

    return take


def colors_of(page, canvas):
    """Returns the number of different pixels of a canvas."""
    return page.evaluate(
        f"(c => {{ const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);"
        f" return new Set(d).size; }})(document.getElementById('{canvas}'))")


def box_of(page, title):
    """Returns the position, on the canvas of the graph, of the box with a title."""
    return page.evaluate(
        "(title => { const {boxes, view} = views.graph.current, box = boxes.find(box => box.title === title);"
        " return [view.x + view.scale * box.x, view.y + view.scale * box.y]; })(" + json.dumps(title) + ")")


def test_overview(folder, shoot):
    with browser.Page(folder / "report.html") as page:
        assert page.text("#model") == "digits"
        assert "batch=128" in page.text("#summary")
        figures = page.text("#figures")
        assert "5\nlaunches of 11 ops" in figures
        assert "22.0 MFLOP" in figures and "27.5 KB\nweights" in figures and "655 KB\narena" in figures
        assert "Not measured" in page.text("#view-overview")
        assert page.evaluate("document.querySelectorAll('#roofline circle').length") == 5
        # Another machine: the minimum times change.
        before = page.text("#by-kernel")
        page.evaluate("(i => { i.value = 1; i.dispatchEvent(new Event('input', {bubbles: true})); })($('peak-flops'))")
        assert page.text("#by-kernel") != before
        page.click("#by-kernel .bar.link")
        assert "Tiles and schedule" in page.text("#panel")
        shoot(page, "overview")
        assert page.errors == []


def test_graph(folder, shoot):
    with browser.Page(folder / "report.html") as page:
        page.click("#tab-graph")
        assert colors_of(page, "graph") > 20
        shoot(page, "graph-before")
        # conv1, bn1 and relu1 are one kernel.
        page.click("#graph", *box_of(page, "bn1"))
        panel = page.text("#panel")
        assert panel.startswith("×\nbn1") or "bn1" in panel.splitlines()[:2]
        assert "Computed by" in panel and "conv_relu_0" in panel and "Nodes (3)" in panel and "machine code" in panel
        page.click("#panel .close")
        assert page.evaluate("$('panel').hidden")
        page.type("#graph-search", "pool")
        assert page.text("#graph-found") == "2 found"
        page.click("#graph-after")
        assert page.text("#graph-found") == "2 found"
        page.click("#graph", *box_of(page, "conv_relu_1"))
        panel = page.text("#panel")
        for text in ("conv_relu_1", "conv2", "bn2", "relu2", "Tiles and schedule", "weights", "arena from max_pool_0"):
            assert text in panel
        page.click("#panel summary")
        assert "tile.kernel @conv_relu_1" in page.text("#panel pre")
        shoot(page, "graph-after")
        # A drag moves, the wheel zooms.
        before = page.evaluate("({...views.graph.current.view})")
        page.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, x=300, y=500)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, x=340, y=520)
        page.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, x=340, y=520)
        page.settle()
        moved = page.evaluate("({...views.graph.current.view})")
        assert (moved["x"] - before["x"], moved["y"] - before["y"]) == pytest.approx((40, 20))
        page.call("Input.dispatchMouseEvent", type="mouseWheel", x=400, y=500, deltaX=0, deltaY=-200)
        page.wait(f"views.graph.current.view.scale > {moved['scale']} * 1.1")
        assert page.errors == []


SWISH = """
<ir_version: 8, opset_import: ["" : 18]>
swish (float[N, 8] x) => (float[N, 8] y, int64[2] sizes) <float[8, 8] w = {WEIGHTS}> {
  [product] p = MatMul(x, w)
  [sigmoid] s = Sigmoid(p)
  [swish] y = Mul(p, s)
  [shape] sizes = Shape(x)
}
""".replace("WEIGHTS", ", ".join(str(i % 7) for i in range(64)))


def test_merged_nodes(tmp_path):
    """x * sigmoid(x) becomes one op with the name of its last node: all nodes are in the kernel's
    cluster."""
    (tmp_path / "swish.onnx").write_bytes(parse(SWISH))
    run(BIN / "atranslate", tmp_path / "swish.onnx", "-o", tmp_path / "swish.so", f"--report={tmp_path / 'swish.html'}")
    with browser.Page(tmp_path / "swish.html") as page:
        assert "sigmoid" not in page.evaluate("kernels.flatMap(kernel => kernel.nodes)")
        page.click("#tab-graph")
        clusters = page.evaluate("Object.fromEntries(views.graph.current.boxes.map(box => [box.title, box.cluster]))")
        assert clusters["product"] is not None
        assert clusters["product"] == clusters["sigmoid"] == clusters["swish"]
        assert page.errors == []


PLAIN = """
<ir_version: 8, opset_import: ["" : 18]>
plain (float[N] x, int64[M] i) => (float[N] y, int64[K] u) { y = Identity(x) u = Unique(i) }
"""


def test_model_without_kernels(tmp_path):
    """Ops of the host have no launch; their slots in the arena are live within the existing
    launches."""
    (tmp_path / "plain.onnx").write_bytes(parse(PLAIN))
    run(BIN / "atranslate", tmp_path / "plain.onnx", "-o", tmp_path / "plain.so", f"--report={tmp_path / 'plain.html'}")
    with browser.Page(tmp_path / "plain.html") as page:
        count = page.evaluate("kernels.length")
        for tab in ("graph", "kernels", "memory", "refusals", "overview"):
            page.click(f"#tab-{tab}")
        assert page.evaluate(f"report.slots.every(slot => slot.first <= slot.last && slot.last < Math.max(1, {count}))")
        page.click("#tab-graph")
        page.click("#graph-after")
        page.click("#graph-before")
        assert page.errors == []


def test_kernels_memory_refusals(folder, shoot):
    with browser.Page(folder / "report.html") as page:
        page.click("#tab-kernels")
        rows = "[...document.querySelectorAll('#kernels tbody tr')].map(row => row.cells[0].innerText.trim())"
        assert len(page.evaluate(rows)) == 5
        assert page.text("#kernel-found") == "5 launches"
        page.click("#kernels th:first-child")
        assert page.evaluate(rows)[0] == "conv_relu_0"
        page.type("#kernel-search", "fc")
        assert page.evaluate(rows) == ["matmul_add_0"]
        assert page.text("#kernel-found") == "1 of 5"
        page.click("#kernels tbody tr")
        assert page.text("#panel h2") == "matmul_add_0"
        shoot(page, "kernels")
        page.click("#tab-memory")
        assert colors_of(page, "arena") > 4
        assert "f32 (" in page.text("#weights-by-type")
        assert "conv_relu_1" in page.text("#weights")
        shoot(page, "memory")
        page.click("#tab-refusals")
        assert "fusion: both are anchor ops, and a kernel has one" in page.text("#refusals")
        page.click("#refusals summary")
        assert "pool1" in page.text("#refusals table")
        shoot(page, "refusals")
        assert page.errors == []


def test_measured(folder, shoot):
    with browser.Page(folder / "measured.html", scheme="dark") as page:
        assert "medians of 5 runs" in page.text("#summary")
        assert "a run, median of 5" in page.text("#figures")
        # The median of five runs of the trace in the page, computed independently.
        kernel = page.evaluate("kernels.find(kernel => kernel.name === 'conv_relu_1')")
        assert kernel["calls"] == 1
        times = page.evaluate(
            "profile.trace.traceEvents.filter(e => e.cat === 'kernel' && e.name === 'conv_relu_1').map(e => e.dur)")
        assert len(times) == 5 and kernel["us"] == sorted(times)[2]
        events = page.evaluate("profile.trace.traceEvents.filter(e => e.ph === 'X').map(e => [e.cat, e.dur])")
        runs, gaps, inside = 0, [], 0.0  # a run's event follows those of its kernels
        for category, duration in events:
            if category == "run":
                runs, inside = runs + 1, gaps.append(duration - inside) or 0.0
            else:
                inside += duration
        assert runs == 5
        assert page.evaluate("measured.between") == pytest.approx(sorted(gaps)[2], abs=1e-6)
        assert "between launches" in page.text("#by-type")
        page.click("#tab-kernels")
        page.click("#kernels tbody tr")
        assert "measured" in page.text("#panel") and "of the roofline" in page.text("#panel")
        shoot(page, "measured-dark")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("#theme")
        assert page.text("#theme") == "Theme: light"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
        shoot(page, "measured-light")
        assert page.errors == []
    trace = json.loads((folder / "trace.json").read_text())
    assert sum(event.get("cat") == "run" for event in trace["traceEvents"]) == 1


def test_without_report(folder):
    with browser.Page(folder / "alone.html") as page:
        assert page.text("#tabs").split("\n") == ["Overview", "Kernels (5)"]
        assert "medians of 10 runs" in page.text("#summary")
        assert page.errors == []


def test_large_model(folder, tmp_path, shoot):
    """A model of 2,000 nodes: its graph is laid out and drawn quickly."""
    report = json.loads((folder / "report.json").read_text())
    ops = ("conv", "relu", "add", "mul", "matmul")
    nodes = [{"op": "input", "nodes": ["x"], "type": "f32 1x64", "inputs": []}]
    for i in range(2000):
        inputs = [i] + ([i - 5] if i % 7 == 6 else []) + ([i - 39] if i % 50 == 49 else [])
        nodes.append({"op": f"graph.{ops[i % 5]}", "nodes": [f"layer{i // 10}/node{i}"], "type": "f32 1x64x56x56",
                      "inputs": inputs})
    tensor = {"type": "f32 1x64x56x56", "bytes": 802816, "place": "arena"}
    report["nodes"] = nodes
    report["kernels"] = [
        {**report["kernels"][0], "name": f"conv_relu_{k}", "function": f"conv_relu_{k}", "nodes": [f"layer{k * 2 // 10}/node{k * 2}"],
         "inputs": [{**tensor, "from": [j for j in (k - 5, k - 1) if j >= 0]}], "outputs": [tensor]} for k in range(1000)]
    report["slots"] = [{"type": tensor["type"], "offset": 802816 * (k % 4), "bytes": 802816, "first": k, "last": k + 1}
                       for k in range(999)]
    page_text = (folder / "report.html").read_text()
    begin = page_text.index('id="report-data">') + len('id="report-data">')
    end = page_text.index("</script>", begin)
    large = tmp_path / "large.html"
    large.write_text(page_text[:begin] + json.dumps(report).replace("<", "\\u003c") + page_text[end:])
    with browser.Page(large) as page:
        page.click("#tab-graph")
        page.click("#graph-fit")
        seconds = page.evaluate(
            "(() => { const begin = performance.now(); for (let i = 0; i < 10; ++i) views.graph.draw();"
            " return (performance.now() - begin) / 1e4; })()")
        # 10 ms on an idle core; machines that run tests are busy.
        assert seconds < 0.25
        page.type("#graph-search", "node1500")
        assert page.text("#graph-found") == "1 found"
        shoot(page, "large")
        page.click("#graph-after")
        page.click("#tab-kernels")
        assert page.evaluate("document.querySelectorAll('#kernels tbody tr').length") < 1000
        assert page.errors == []
