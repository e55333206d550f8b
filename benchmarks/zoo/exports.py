#!/usr/bin/env python3
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
"""Writes models with seeded weights by common exporters.

  exports.py --list              prints the names
  exports.py FOLDER NAME ...     writes FOLDER/NAME.onnx for each

Architectures are those of torchvision, timm, transformers, scikit-learn, LightGBM and XGBoost. Language models have few and
narrow layers, as the structure of their files does not depend on the size. If a model is written by both exporters of
PyTorch, its name ends with the exporter: `.trace` is the older one, by tracing.
"""
import os
import random
import sys
import warnings
import numpy as np

MAKERS = {}
SEED = 20261125


def maker(name):
    def register(function):
        MAKERS[name] = function
        return function
    return register


# PyTorch

def export(net, args, path, trace=False, dims=None, names=None, opset=None):
    """Writes a network. `dims` names the dynamic axes: a dict of axis to name for each argument."""
    import torch
    net = net.eval()
    if trace:
        names = names or [f"input_{k}" for k in range(len(args))]
        axes = {name: {axis: text for axis, text in dim.items()} for name, dim in zip(names, dims or [])}
        with torch.no_grad():
            torch.onnx.export(net, args, path, dynamo=False, input_names=names, dynamic_axes=axes, opset_version=opset or 17)
        return
    shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in dim} for dim in dims) if dims else None
    if shapes and getattr(net, "takes_tuple", False):
        shapes = (shapes,)  # of its one parameter, the tuple of all arguments
    with torch.no_grad():
        torch.onnx.export(net, args, path, dynamo=True, external_data=False, dynamic_shapes=shapes, input_names=names,
                          opset_version=opset, verbose=False)


def image(size=224, channels=3, batch=1):
    import torch
    return torch.rand(batch, channels, size, size)


def torchvision_model(name, size=224, trace=False, dims=None, opset=None, **options):
    def make(path):
        import torchvision
        net = torchvision.models.get_model(name, weights=None, **options)
        export(net, (image(size),), path, trace, dims, opset=opset)
    MAKERS[f"torchvision_{name}{'.trace' if trace else ''}"] = make


def timm_model(name, size=224, trace=False, **options):
    def make(path):
        import timm
        net = timm.create_model(name, pretrained=False, exportable=True, **options)
        export(net, (image(size),), path, trace)
    MAKERS[f"timm_{name}{'.trace' if trace else ''}"] = make


BATCH = [{0: "batch"}]
for name in ("mobilenet_v3_small", "squeezenet1_1", "shufflenet_v2_x0_5", "mnasnet0_5", "regnet_y_400mf", "resnet18",
             "efficientnet_b0", "googlenet", "densenet121", "convnext_tiny", "swin_t"):
    torchvision_model(name, init_weights=True) if name == "googlenet" else torchvision_model(name)
for name in ("mobilenet_v3_large", "shufflenet_v2_x1_0", "resnet18", "swin_v2_t"):
    torchvision_model(name, trace=True, dims=BATCH)
torchvision_model("lraspp_mobilenet_v3_large", 256, weights_backbone=None)
torchvision_model("deeplabv3_mobilenet_v3_large", 256, trace=True, weights_backbone=None)
torchvision_model("ssdlite320_mobilenet_v3_large", 320, trace=True, weights_backbone=None)
torchvision_model("fasterrcnn_mobilenet_v3_large_320_fpn", 320, trace=True, weights_backbone=None)
for name in ("mobilevit_xxs", "ghostnet_100", "levit_128s", "edgenext_xx_small", "repvit_m1", "fastvit_t8", "mobileone_s0",
             "xcit_nano_12_p16_224", "deit_tiny_patch16_224", "poolformer_s12", "hgnetv2_b0", "lcnet_050"):
    timm_model(name)
timm_model("coat_lite_tiny", trace=True)
timm_model("mixer_s32_224", trace=True)


def torch_model(name, trace=False, dims=None):
    """Returns a function as a network, and its arguments."""
    def register(function):
        def make(path):
            net, args = function()
            export(net, args, path, trace, dims)
        MAKERS[f"torch_{name}{'.trace' if trace else ''}"] = make
        return function
    return register


@torch_model("unet")
@torch_model("unet", trace=True, dims=[{0: "batch", 2: "height", 3: "width"}])
def unet():
    import torch
    from torch import nn

    def block(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                             nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            widths = [16, 32, 64, 128]
            self.down = nn.ModuleList(block(a, b) for a, b in zip([1] + widths, widths))
            self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
            self.join = nn.ModuleList(block(2 * a, a) for a in widths[:-1])
            self.last = nn.Conv2d(widths[0], 2, 1)

        def forward(self, x):
            kept = []
            for k, down in enumerate(self.down):
                x = down(x if k == 0 else nn.functional.max_pool2d(x, 2))
                kept.append(x)
            for k in (2, 1, 0):
                x = self.join[k](torch.cat([kept[k], self.up[k](x)], 1))
            return self.last(x)
    return UNet(), (image(128, 1),)


def recurrent(kind, **options):
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(200, 48)
            self.layers = getattr(nn, kind)(48, 64, num_layers=2, batch_first=True, **options)
            self.last = nn.Linear(64 * (2 if options.get("bidirectional") else 1), 9)

        def forward(self, ids):
            return self.last(self.layers(self.embed(ids))[0])
    return Tagger(), (torch.randint(0, 200, (1, 24)),)


torch_model("lstm_tagger", trace=True, dims=[{0: "batch", 1: "length"}])(lambda: recurrent("LSTM", bidirectional=True))
torch_model("gru_tagger", trace=True, dims=[{0: "batch", 1: "length"}])(lambda: recurrent("GRU"))
torch_model("lstm_tagger")(lambda: recurrent("LSTM"))


@torch_model("dcgan")
def dcgan():
    import torch
    from torch import nn
    widths = [100, 256, 128, 64, 3]
    layers = []
    for k, (a, b) in enumerate(zip(widths, widths[1:])):
        layers += [nn.ConvTranspose2d(a, b, 4, 1 if k == 0 else 2, 0 if k == 0 else 1, bias=False)]
        layers += [nn.BatchNorm2d(b), nn.ReLU()] if k < 3 else [nn.Tanh()]
    return nn.Sequential(*layers), (torch.randn(1, 100, 1, 1),)


@torch_model("wavenet", dims=[{2: "samples"}])
def wavenet():
    import torch
    from torch import nn

    class WaveNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv1d(1, 32, 1)
            self.layers = nn.ModuleList(nn.Conv1d(32, 64, 2, dilation=2 ** k, padding=2 ** k) for k in range(8))
            self.residual = nn.ModuleList(nn.Conv1d(32, 32, 1) for _ in range(8))
            self.last = nn.Conv1d(32, 16, 1)

        def forward(self, x):
            x = self.first(x)
            for layer, residual in zip(self.layers, self.residual):
                both = layer(x)[..., :x.shape[-1]]
                gate, value = both.chunk(2, 1)
                x = x + residual(torch.sigmoid(gate) * torch.tanh(value))
            return self.last(torch.relu(x))
    return WaveNet(), (torch.randn(1, 1, 4000),)


@torch_model("transformer_encoder", dims=[{0: "batch", 1: "length"}])
@torch_model("transformer_encoder", trace=True)
def transformer_encoder():
    import torch
    from torch import nn
    torch.backends.mha.set_fastpath_enabled(False)  # its operator cannot be exported
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), (torch.randn(2, 20, 64),)


@torch_model("spectrogram", trace=False)
def spectrogram():
    import torch
    from torch import nn

    class Spectrogram(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(400))
            self.register_buffer("mel", torch.rand(201, 40))

        def forward(self, x):
            complex_values = torch.stft(x, 400, 160, window=self.window, return_complex=True)
            power = torch.view_as_real(complex_values).pow(2).sum(-1)
            return torch.log(power.transpose(1, 2) @ self.mel + 1e-6)
    return Spectrogram(), (torch.randn(1, 16000),)


# transformers

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 300}
DECODER = SMALL | {"num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1,
                   "eos_token_id": 2}
PIXELS = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "image_size": 64,
          "patch_size": 16}


def first_result(net, **options):
    """A module that returns the first result, a tensor, of another one."""
    import torch

    class First(torch.nn.Module):
        takes_tuple = True

        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, *args):
            return self.net(*args, return_dict=False, **options)[0]
    return First()


def transformers_model(name, net, config, inputs, trace=False, dims=None, options=None, **settings):
    def make(path):
        import transformers
        built = getattr(transformers, config)(**settings)
        built._attn_implementation = "eager"
        export(first_result(getattr(transformers, net)(built), **(options or {})), inputs(), path, trace, dims)
    MAKERS[f"transformers_{name}{'.trace' if trace else ''}"] = make


def ids():
    import torch
    return (torch.randint(3, 300, (2, 16)),)


def ids_and_mask():
    import torch
    return ids() + (torch.ones(2, 16, dtype=torch.int64),)


LENGTH = [{0: "batch", 1: "length"}]
for name, prefix in (("bert", "Bert"), ("distilbert", "DistilBert"), ("roberta", "Roberta"), ("electra", "Electra"),
                     ("albert", "Albert"), ("mobilebert", "MobileBert"), ("deberta_v2", "DebertaV2"), ("mpnet", "MPNet")):
    own = {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "vocab_size": 300} if name == "distilbert" else SMALL
    own = own | {"embedding_size": 32} if name in ("electra", "albert") else own
    transformers_model(name, prefix + "Model", prefix + "Config", ids_and_mask, dims=LENGTH * 2, **own)
transformers_model("bert", "BertModel", "BertConfig", ids_and_mask, trace=True, dims=LENGTH * 2, **SMALL)
NO_CACHE = {"use_cache": False}
for name, prefix in (("llama", "Llama"), ("qwen2", "Qwen2"), ("qwen3", "Qwen3"), ("gemma", "Gemma"), ("phi3", "Phi3"),
                     ("mistral", "Mistral"), ("olmo2", "Olmo2"), ("smollm3", "SmolLM3")):
    transformers_model(name, prefix + "ForCausalLM", prefix + "Config", ids, options=NO_CACHE, **DECODER)
transformers_model("gpt2", "GPT2LMHeadModel", "GPT2Config", ids, options=NO_CACHE, n_embd=64, n_layer=2, n_head=4,
                   vocab_size=300, n_positions=64)
transformers_model("opt", "OPTForCausalLM", "OPTConfig", ids, options=NO_CACHE, **SMALL, ffn_dim=128, word_embed_proj_dim=64)
transformers_model("bloom", "BloomForCausalLM", "BloomConfig", ids, options=NO_CACHE, hidden_size=64, n_layer=2, n_head=4,
                   vocab_size=300)
transformers_model("gpt_neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", ids, options=NO_CACHE, **SMALL)
transformers_model("t5_encoder", "T5EncoderModel", "T5Config", ids_and_mask, d_model=64, d_kv=16, d_ff=128, num_layers=2,
                   num_heads=4, vocab_size=300)
for name, prefix in (("vit", "ViT"), ("deit", "DeiT"), ("beit", "Beit"), ("dinov2", "Dinov2"), ("yolos", "Yolos")):
    own = dict(PIXELS, image_size=[64, 64], num_detection_tokens=10) if name == "yolos" else PIXELS
    transformers_model(name, prefix + "Model", prefix + "Config", lambda: (image(64),), **own)
transformers_model("segformer", "SegformerForSemanticSegmentation", "SegformerConfig", lambda: (image(64),),
                   hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], decoder_hidden_size=32)
transformers_model("swinv2", "Swinv2Model", "Swinv2Config", lambda: (image(64),), image_size=64, embed_dim=24, depths=[1, 1],
                   num_heads=[2, 4], window_size=4)


def samples():
    import torch
    return (torch.randn(1, 8000),)


for name, prefix in (("wav2vec2", "Wav2Vec2"), ("hubert", "Hubert")):
    transformers_model(name, prefix + "Model", prefix + "Config", samples, **SMALL, conv_dim=[32] * 7,
                       num_conv_pos_embedding_groups=4, num_conv_pos_embeddings=16)


@maker("transformers_whisper_encoder")
def whisper_encoder(path):
    import torch
    import transformers
    config = transformers.WhisperConfig(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=300,
                                        max_source_positions=100, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                                        decoder_start_token_id=1)
    net = transformers.WhisperModel(config).encoder
    export(first_result(net), (torch.randn(1, 80, 200),), path)


# scikit-learn and trees

def rows(classes=3, columns=6, count=200):
    generator = np.random.default_rng(SEED)
    x = generator.normal(size=(count, columns)).astype(np.float32)
    centres = generator.normal(size=(columns, classes))
    return x, (x @ centres + 0.3 * generator.normal(size=(count, classes))).argmax(1)


def sklearn_model(name, build, is_regression=False, target_opset=None):
    def make(path):
        from skl2onnx import to_onnx
        x, y = rows()
        fitted = build().fit(x, (x @ np.arange(6)).astype(np.float32) if is_regression else y)
        with open(path, "wb") as file:
            file.write(to_onnx(fitted, x[:1], target_opset=target_opset).SerializeToString())
    MAKERS[f"sklearn_{name}"] = make


def sk(module, name, **options):
    import importlib
    return getattr(importlib.import_module(f"sklearn.{module}"), name)(**options)


sklearn_model("logistic_regression", lambda: sk("linear_model", "LogisticRegression"))
sklearn_model("random_forest", lambda: sk("ensemble", "RandomForestClassifier", n_estimators=50, random_state=1))
sklearn_model("extra_trees_regressor", lambda: sk("ensemble", "ExtraTreesRegressor", n_estimators=50, random_state=1), True)
sklearn_model("gradient_boosting", lambda: sk("ensemble", "GradientBoostingClassifier", random_state=1))
sklearn_model("decision_tree_regressor", lambda: sk("tree", "DecisionTreeRegressor", random_state=1), True)
sklearn_model("ada_boost", lambda: sk("ensemble", "AdaBoostClassifier", random_state=1))
sklearn_model("isolation_forest", lambda: sk("ensemble", "IsolationForest", random_state=1),
              target_opset={"": 18, "ai.onnx.ml": 3})
sklearn_model("svc", lambda: sk("svm", "SVC", probability=True, random_state=1))
sklearn_model("svr", lambda: sk("svm", "SVR"), True)
sklearn_model("k_neighbors", lambda: sk("neighbors", "KNeighborsClassifier"))
sklearn_model("mlp", lambda: sk("neural_network", "MLPClassifier", random_state=1, max_iter=50))
sklearn_model("k_means", lambda: sk("cluster", "KMeans", n_clusters=4, random_state=1))
sklearn_model("gaussian_nb", lambda: sk("naive_bayes", "GaussianNB"))
sklearn_model("lda", lambda: sk("discriminant_analysis", "LinearDiscriminantAnalysis"))
sklearn_model("gaussian_process", lambda: sk("gaussian_process", "GaussianProcessRegressor"), True)
sklearn_model("pipeline", lambda: sk("pipeline", "Pipeline", steps=[
    ("scale", sk("preprocessing", "StandardScaler")), ("project", sk("decomposition", "PCA", n_components=4)),
    ("fit", sk("linear_model", "Ridge"))]), True)


@maker("sklearn_text")
def sklearn_text(path):
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import StringTensorType
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    texts = ["the cat sat", "the dog ran", "a bird flew away", "cat and dog", "the bird sat"] * 4
    fitted = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [0, 1, 2, 1, 2] * 4)
    model = to_onnx(fitted, initial_types=[("text", StringTensorType([None]))])
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


@maker("lightgbm_classifier")
def lightgbm_classifier(path):
    import lightgbm
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType
    x, y = rows()
    fitted = lightgbm.LGBMClassifier(n_estimators=30, random_state=1, verbose=-1).fit(x, y)
    onnxmltools.utils.save_model(onnxmltools.convert_lightgbm(fitted, initial_types=[("x", FloatTensorType([None, 6]))]), path)


@maker("xgboost_classifier")
def xgboost_classifier(path):
    import onnxmltools
    import xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType
    x, y = rows()
    fitted = xgboost.XGBClassifier(n_estimators=30, random_state=1).fit(x, y)
    onnxmltools.utils.save_model(onnxmltools.convert_xgboost(fitted, initial_types=[("x", FloatTensorType([None, 6]))]), path)


def write(folder, name):
    """Writes one model. If the exporter fails, writes its reason instead."""
    path = os.path.join(folder, name + ".onnx")
    random.seed(SEED)
    np.random.seed(SEED)
    if "torch" in name or name.startswith(("timm", "transformers")):
        import torch
        torch.manual_seed(SEED)
    try:
        MAKERS[name](path + ".part")
        os.replace(path + ".part", path)
        print(f"{name}: {os.path.getsize(path)} bytes", flush=True)
    except Exception as error:  # any exception of an exporter is the reason why there is no file
        text = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        with open(path + ".failed", "w") as file:
            file.write(f"{type(error).__name__}: {text}\n")
        print(f"{name}: FAILED: {type(error).__name__}: {text}", flush=True)


def main():
    warnings.filterwarnings("ignore")
    if sys.argv[1:] == ["--list"]:
        print("\n".join(sorted(MAKERS)))
        return
    for name in sys.argv[2:]:
        write(sys.argv[1], name)


if __name__ == "__main__":
    main()
