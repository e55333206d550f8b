// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Definitions of the operators of com.microsoft, which the ONNX library has
// none of: what ONNX Runtime documents, in the form that it has for its own.
// So nodes are checked, and the types listed, as those of ai.onnx.
#include "Import/ONNX/MicrosoftOperators.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"
#include <mutex>

using llvm::StringRef;
using onnx::AttributeProto;
using onnx::OpSchema;

namespace {

/// Lists with blanks between. A parameter is `name:variable` or `name:type`,
/// with `?` if it may be left out, `*` if it stands for several of any types; a
/// variable is `T:type,type`; an attribute is `name:kind`, i, f, s or I, F
/// (several), with `!` if it has to be there.
struct Row {
  StringRef name, inputs, outputs, variables, attributes;
};

} // namespace

static constexpr StringRef kFloats = "T:float,float16,bfloat16";
static constexpr StringRef kAllFloats = "T:double,float,float16,bfloat16";
static constexpr StringRef kCommonFloats = "T:double,float,float16";
static constexpr StringRef kConvAttributes =
    "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I";
static constexpr StringRef kFusedConvAttributes =
    "activation:s activation_params:F auto_pad:s dilations:I group:i "
    "kernel_shape:I pads:I strides:I";
static constexpr StringRef kGroupNormAttributes =
    "activation:i! channels_last:i epsilon:f groups:i!";
static constexpr StringRef kGroupNormTypes = "T:float,float16 M:float,float16";
static constexpr StringRef kBytes = "T:int8,uint8";

static constexpr Row kRows[] = {
    {"Attention",
     "input:T weights:T bias:T? mask_index:int32? past:T? attention_bias:T? "
     "past_sequence_length:int32?",
     "output:T present:T?", kFloats,
     "do_rotary:i mask_filter_value:f num_heads:i! past_present_share_buffer:i "
     "qkv_hidden_sizes:I rotary_embedding_dim:i scale:f unidirectional:i"},
    {"BiasGelu", "A:T B:T", "C:T", kAllFloats, ""},
    {"BiasSoftmax", "data:T bias:T", "output:T", kCommonFloats,
     "axis:i is_inner_broadcast:i!"},
    {"DequantizeLinear", "x:T1 x_scale:T2 x_zero_point:T1?", "y:T2",
     "T1:int8,uint8,int16,uint16,int32,int4,uint4 T2:float,float16", "axis:i"},
    {"DynamicQuantizeMatMul",
     "A:float B:T b_scale:float b_zero_point:T? bias:float?", "Y:float", kBytes,
     ""},
    {"EmbedLayerNormalization",
     "input_ids:int32 segment_ids:int32? word_embedding:T position_embedding:T "
     "segment_embedding:T? gamma:T beta:T mask:int32? position_ids:int32?",
     "output:T mask_index:int32? embedding_sum:T?", "T:float,float16",
     "epsilon:f mask_index_type:i"},
    {"FastGelu", "X:T bias:T?", "Y:T", kAllFloats, ""},
    {"FusedConv", "X:T W:T B:T? Z:T?", "Y:T", kCommonFloats,
     kFusedConvAttributes},
    {"FusedGemm", "A:T B:T C:T?", "Y:T", kCommonFloats,
     "activation:s activation_alpha:f activation_beta:f activation_gamma:f "
     "alpha:f beta:f transA:i transB:i"},
    {"FusedMatMul", "A:T B:T", "Y:T", kAllFloats,
     "alpha:f transA:i transB:i transBatchA:i transBatchB:i"},
    {"Gelu", "X:T", "Y:T", kAllFloats, ""},
    {"GroupNorm", "X:T gamma:M beta:M", "Y:T", kGroupNormTypes,
     kGroupNormAttributes},
    {"GroupQueryAttention",
     "query:T key:T? value:T? past_key:T_CACHE? past_value:T_CACHE? "
     "seqlens_k:int32 total_sequence_length:int32 cos_cache:T? sin_cache:T? "
     "position_ids:int64? attention_bias:T? head_sink:T? k_scale:float? "
     "v_scale:float? q_norm_weight:T? k_norm_weight:T? query_seqlens:int32?",
     "output:T present_key:T_CACHE? present_value:T_CACHE? output_qk:T?",
     "T:float,float16,bfloat16 "
     "T_CACHE:float,float16,bfloat16,float8e4m3fn,int8,uint8",
     "causal:i do_rotary:i k_norm_epsilon:f k_quant_type:s "
     "kv_cache_bit_width:i "
     "kv_num_heads:i! local_window_size:i num_heads:i! q_norm_epsilon:f "
     "qk_norm_epsilon:f "
     "qk_output:i rotary_interleaved:i scale:f sliding_window_cache:i "
     "smooth_softmax:i softcap:f v_quant_type:s"},
    {"MatMulIntegerToFloat",
     "A:T1 B:T2 a_scale:T3 b_scale:T3 a_zero_point:T1? b_zero_point:T2? "
     "bias:T3?",
     "Y:T3", "T1:int8,uint8 T2:int8,uint8 T3:float,float16", ""},
    {"MatMulNBits",
     "A:T1 B:uint8 scales:T1 zero_points:T3? g_idx:int32? bias:T1?", "Y:T1",
     "T1:float,float16,bfloat16 T3:float,float16,bfloat16,uint8",
     "K:i! N:i! accuracy_level:i bits:i block_size:i! weight_prepacked:i"},
    {"MoE",
     "input:T router_probs:T fc1_experts_weights:T fc1_experts_bias:T? "
     "fc2_experts_weights:T fc2_experts_bias:T? fc3_experts_weights:T? "
     "fc3_experts_bias:T?",
     "output:T", kFloats,
     "activation_alpha:f activation_beta:f activation_type:s k:i "
     "normalize_routing_weights:i swiglu_fusion:i swiglu_limit:f "
     "swiglu_limit_after_activation:i use_sparse_mixer:i"},
    {"MultiHeadAttention",
     "query:T key:T? value:T? bias:T? key_padding_mask:int32? "
     "attention_bias:T? past_key:T? past_value:T? past_sequence_length:int32? "
     "cache_indirection:int32?",
     "output:T present_key:T? present_value:T? qk:T?", kFloats,
     "mask_filter_value:f num_heads:i! scale:f unidirectional:i"},
    {"NhwcConv", "X:T W:T B:T?", "Y:T", kCommonFloats, kConvAttributes},
    {"QLinearAdd",
     "A:T A_scale:float A_zero_point:T? B:T B_scale:float B_zero_point:T? "
     "C_scale:float C_zero_point:T?",
     "C:T", kBytes, ""},
    {"QLinearConcat", "Y_scale:float Y_zero_point:T inputs:TV*", "Y:T",
     "T:int8,uint8 TV:int8,uint8,float", "axis:i!"},
    {"QLinearGlobalAveragePool",
     "X:T x_scale:float x_zero_point:T y_scale:float y_zero_point:T", "Y:T",
     kBytes, "channels_last:i"},
    {"QLinearLeakyRelu",
     "X:T X_scale:float X_zero_point:T? Y_scale:float Y_zero_point:T?", "Y:T",
     kBytes, "alpha:f"},
    {"QLinearMul",
     "A:T A_scale:float A_zero_point:T? B:T B_scale:float B_zero_point:T? "
     "C_scale:float C_zero_point:T?",
     "C:T", kBytes, ""},
    {"QLinearSigmoid",
     "X:T X_scale:float X_zero_point:T? Y_scale:float Y_zero_point:T?", "Y:T",
     kBytes, ""},
    {"QLinearSoftmax",
     "X:T X_scale:float x_zero_point:T? y_scale:float y_zero_point:T", "Y:T",
     kBytes, "axis:i opset:i!"},
    {"QMoE",
     "input:T router_probs:T fc1_experts_weights:T1 fc1_scales:T2? "
     "fc1_experts_bias:T? fc2_experts_weights:T1 fc2_scales:T2? "
     "fc2_experts_bias:T? fc3_experts_weights:T1? fc3_scales:T2? "
     "fc3_experts_bias:T? fc1_zero_points:T1? fc2_zero_points:T1? "
     "fc3_zero_points:T1? router_weights:T? fc1_global_scale:float? "
     "fc2_global_scale:float? fc1_act_scale:float? fc2_act_scale:float? "
     "fc1_act_block_scale:T2? fc2_act_block_scale:T2?",
     "output:T", "T:float,float16,bfloat16 T1:uint8 T2:float,float16,bfloat16",
     "accuracy_level:i activation_alpha:f activation_beta:f activation_type:s "
     "block_size:i expert_weight_bits:i fc1_expert_weight_bits:i "
     "fc2_expert_weight_bits:i fc3_expert_weight_bits:i k:i "
     "normalize_routing_weights:i quant_type:s swiglu_fusion:i swiglu_limit:f "
     "swiglu_limit_after_activation:i use_sparse_mixer:i weights_prepacked:i"},
    {"QuantizeLinear", "x:T1 y_scale:T1 y_zero_point:T2?", "y:T2",
     "T1:float,float16 T2:int8,uint8,int16,uint16,int4,uint4", "axis:i"},
    {"QuickGelu", "X:T", "Y:T", kAllFloats, "alpha:f"},
    {"RotaryEmbedding", "input:T position_ids:int64 cos_cache:T sin_cache:T",
     "output:T", kFloats,
     "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i "
     "scale:f"},
    {"SimplifiedLayerNormalization", "X:T scale:V", "Y:V inv_std_var:float?",
     "T:double,float,float16,bfloat16 V:double,float,float16,bfloat16",
     "axis:i epsilon:f stash_type:i"},
    {"SkipGroupNorm", "X:T gamma:M beta:M skip:T bias:T?", "Y:T S:T?",
     kGroupNormTypes, kGroupNormAttributes},
    {"SkipLayerNormalization", "input:T skip:T gamma:T beta:T? bias:T?",
     "output:T mean:float? inv_std_var:float? input_skip_bias_sum:T?", kFloats,
     "epsilon:f"},
    {"SkipSimplifiedLayerNormalization", "input:T skip:T gamma:T bias:T?",
     "output:T mean:float? inv_std_var:float? input_skip_bias_sum:T?", kFloats,
     "epsilon:f"},
};

static std::string getTensorType(StringRef element) {
  return ("tensor(" + element + ")").str();
}

static void addVariables(StringRef list, OpSchema &schema) {
  for (StringRef item : llvm::split(list, ' ')) {
    auto [name, types] = item.split(':');
    std::vector<std::string> all;
    for (StringRef type : llvm::split(types, ','))
      all.push_back(getTensorType(type));
    schema.TypeConstraint(name.str(), all, "");
  }
}

/// Calls `add` with place, name, variable or type, and option of each.
template <typename Add>
static void forEachParameter(StringRef list, StringRef variables, Add add) {
  int place = 0;
  for (StringRef item : llvm::split(list, ' ')) {
    auto [name, type] = item.split(':');
    bool isOptional = type.consume_back("?");
    bool isSeveral = type.consume_back("*");
    bool isVariable = false;
    for (StringRef variable : llvm::split(variables, ' '))
      isVariable |= variable.split(':').first == type;
    add(place++, name.str(), isVariable ? type.str() : getTensorType(type),
        isSeveral    ? OpSchema::Variadic
        : isOptional ? OpSchema::Optional
                     : OpSchema::Single);
  }
}

static void addAttributes(StringRef list, OpSchema &schema) {
  llvm::SmallVector<StringRef> items;
  list.split(items, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    bool isRequired = item.consume_back("!");
    auto [name, kind] = item.split(':');
    AttributeProto::AttributeType type = kind == "i"   ? AttributeProto::INT
                                         : kind == "f" ? AttributeProto::FLOAT
                                         : kind == "s" ? AttributeProto::STRING
                                         : kind == "F" ? AttributeProto::FLOATS
                                                       : AttributeProto::INTS;
    schema.Attr(name.str(), "", type, isRequired);
  }
}

static OpSchema makeSchema(const Row &row) {
  OpSchema schema(row.name.str(), __FILE__, __LINE__);
  schema.SetDomain(adze::kMicrosoftDomain).SinceVersion(1);
  forEachParameter(row.inputs, row.variables,
                   [&](int i, std::string name, std::string type,
                       OpSchema::FormalParameterOption option) {
                     schema.Input(i, name, "", type, option,
                                  option != OpSchema::Variadic);
                   });
  forEachParameter(row.outputs, row.variables,
                   [&](int i, std::string name, std::string type,
                       OpSchema::FormalParameterOption option) {
                     schema.Output(i, name, "", type, option);
                   });
  addVariables(row.variables, schema);
  addAttributes(row.attributes, schema);
  return schema;
}

void adze::registerMicrosoftOperators() {
  static std::once_flag once;
  std::call_once(once, [] {
    // ONNX's own come first.
    (void)onnx::OpSchemaRegistry::Schema("Identity");
    onnx::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion(
        adze::kMicrosoftDomain, 1, 1);
    for (const Row &row : kRows)
      onnx::RegisterSchema(makeSchema(row));
  });
}
