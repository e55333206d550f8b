"""lit: one file, one behaviour; tools come from the build folder."""
import os
import shutil
import subprocess
import lit.formats

config.name = "Adze"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".onnxtxt"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.join(config.adze_source, "test")
config.test_exec_root = os.path.join(config.adze_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.adze_build, "bin"), config.llvm_tools, os.environ["PATH"]])
config.substitutions.append(("%examples", os.path.join(config.adze_source, "examples")))
config.substitutions.append(("%adze_lib", os.path.join(config.adze_build, "lib")))
config.substitutions.append(("%fake_cuda", os.path.join(config.adze_build, "fake-cuda")))
config.substitutions.append(("%adze_src", config.adze_source))
config.substitutions.append(("%models", os.path.join(config.adze_build, "models")))

# What a test may REQUIRE beyond the packages of scripts/setup.sh.
if config.adze_ptxas or shutil.which("ptxas"):
    config.available_features.add("cuda-toolkit")
if shutil.which("script"):
    config.available_features.add("script")  # runs a command on a terminal
if shutil.which("unshare") and not subprocess.call(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    config.available_features.add("mount-namespaces")
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("gpu")
try:
    with open("/proc/cpuinfo") as cpuinfo:
        flags = next((line.split() for line in cpuinfo if line.startswith("flags")), [])
except OSError:
    flags = []
for flag, feature in (("avx2", "host-avx2"), ("avx512f", "host-avx512"), ("avx512_vnni", "host-vnni"),
                      ("avx512_bf16", "host-bf16"),
                      ("amx_tile", "host-amx")):
    if flag in flags:
        config.available_features.add(feature)
