// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The operators of com.microsoft as ONNX Runtime documents them.
#include "MicrosoftRows.h"

using llvm::StringRef;
using Row = adze::importer::MicrosoftRow;

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
    {"BeamSearch",
     "input_ids:I max_length:I min_length:I? num_beams:I "
     "num_return_sequences:I length_penalty:T? repetition_penalty:T? "
     "vocab_mask:I? prefix_vocab_mask:I? attention_mask:I? "
     "decoder_input_ids:I? logits_processor:I?",
     "sequences:I sequences_scores:float? scores:float?", "T:float I:int32",
     "decoder:g! decoder_start_token_id:i early_stopping:i encoder:g "
     "eos_token_id:i! init_decoder:g model_type:i no_repeat_ngram_size:i "
     "pad_token_id:i! vocab_size:i"},
    {"BiasAdd", "X:T bias:T skip:T", "Y:T", kCommonFloats, "",
     R"(sum = Add(X, bias)
        Y = Add(sum, skip))"},
    {"BiasGelu", "A:T B:T", "C:T", kAllFloats, ""},
    {"BiasSoftmax", "data:T bias:T", "output:T", kCommonFloats,
     "axis:i is_inner_broadcast:i!"},
    {"BiasSplitGelu", "X:T bias:T", "Y:T", kCommonFloats, "",
     R"(sum = Add(X, bias)
        left, right = Split<axis = -1, num_outputs = 2>(sum)
        gate = Gelu(right)
        Y = Mul(left, gate))"},
    {"CDist", "A:T B:T", "C:T", "T:double,float", "metric:s=sqeuclidean",
     R"(one = Constant<value_ints = [1]>()
        zero = Constant<value_ints = [0]>()
        two = Constant<value_ints = [2]>()
        left = Unsqueeze(A, one)
        right = Unsqueeze(B, zero)
        difference = Sub(left, right)
        squares = ReduceSumSquare<keepdims = 0>(difference, two)
        [metric=sqeuclidean] C = Identity(squares)
        [metric=euclidean] C = Sqrt(squares))"},
    {"DequantizeLinear", "x:T1 x_scale:T2 x_zero_point:T1?", "y:T2",
     "T1:int8,uint8,int16,uint16,int32,int4,uint4 T2:float,float16", "axis:i=1",
     "y = DequantizeLinear<axis: int = @axis>(x, x_scale, x_zero_point)"},
    {"DynamicQuantizeLSTM",
     "X:T W:T2 R:T2 B:T? sequence_lens:T1? initial_h:T? initial_c:T? P:T? "
     "W_scale:T W_zero_point:T2 R_scale:T R_zero_point:T2",
     "Y:T? Y_h:T? Y_c:T?", "T:float T1:int32 T2:uint8,int8",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s "
     "hidden_size:i input_forget:i"},
    {"DynamicQuantizeMatMul", "A:T1 B:T2 b_scale:T1 b_zero_point:T2? bias:T1?",
     "Y:T1", "T1:float T2:int8,uint8", "",
     R"(q, q_scale, q_zero = DynamicQuantizeLinear(A)
        steps = MatMulInteger(q, B, q_zero, b_zero_point)
        number = Cast<to = 1>(steps)
        scale = Mul(q_scale, b_scale)
        [bias] product = Mul(number, scale)
        [bias] Y = Add(product, bias)
        [!bias] Y = Mul(number, scale))"},
    {"EmbedLayerNormalization",
     "input_ids:int32 segment_ids:int32? word_embedding:T position_embedding:T "
     "segment_embedding:T? gamma:T beta:T mask:int32? position_ids:int32?",
     "output:T mask_index:int32? embedding_sum:T?", "T:float,float16",
     "epsilon:f mask_index_type:i"},
    {"ExpandDims", "X:T axis:int32", "Y:T",
     "T:double,float,float16,int32,int64,int8,uint8,bool", "",
     R"(one = Constant<value_ints = [1]>()
        axes = Reshape(axis, one)
        wide = Cast<to = 7>(axes)
        Y = Unsqueeze(X, wide))"},
    {"FastGelu", "X:T bias:T?", "Y:T", kAllFloats, ""},
    {"FusedConv", "X:T W:T B:T? Z:T?", "Y:T", kCommonFloats,
     kFusedConvAttributes},
    {"FusedGemm", "A:T B:T C:T?", "Y:T", kCommonFloats,
     "activation:s activation_alpha:f activation_beta:f activation_gamma:f "
     "alpha:f beta:f transA:i transB:i"},
    {"FusedMatMul", "A:T B:T", "Y:T", kAllFloats,
     "alpha:f transA:i transB:i transBatchA:i transBatchB:i"},
    {"FusedMatMulActivation", "A:T B:T", "Y:T", kAllFloats,
     "activation:s! activation_alpha:f activation_axis:i activation_beta:f "
     "activation_gamma:f alpha:f transA:i transB:i transBatchA:i transBatchB:i",
     R"(x = com.microsoft.FusedMatMul<alpha: float = @alpha, transA: int = @transA, transB: int = @transB, transBatchA: int = @transBatchA, transBatchB: int = @transBatchB>(A, B)
        [activation=HardSigmoid] Y = HardSigmoid<alpha: float = @activation_alpha, beta: float = @activation_beta>(x)
        [activation=LeakyRelu] Y = LeakyRelu<alpha: float = @activation_alpha>(x)
        [activation=LogSoftmax] Y = LogSoftmax<axis: int = @activation_axis>(x)
        [activation=Relu] Y = Relu(x)
        [activation=Sigmoid] Y = Sigmoid(x)
        [activation=Softmax] Y = Softmax<axis: int = @activation_axis>(x)
        [activation=Softplus] Y = Softplus(x)
        [activation=Tanh] Y = Tanh(x))"},
    {"GatherBlockQuantized", "data:T1 indices:Tind scales:T2 zero_points:T1?",
     "output:T2",
     "T1:int4,uint4,uint8 T2:float,float16,bfloat16 Tind:int32,int64",
     "gather_axis:i=0 quantize_axis:i=1 block_size:i=128 bits:i=4"},
    {"GatherND", "data:T indices:Tind", "output:T",
     "T:double,float,float16,int8,int16,int32,int64,uint8,uint16,uint32,uint64,"
     "bool,string Tind:int32,int64",
     "",
     R"(wide = Cast<to = 7>(indices)
        output = GatherND(data, wide))"},
    {"Gelu", "X:T", "Y:T", kAllFloats, ""},
    {"GemmFastGelu", "X:T W:T bias:T?", "Y:T", kFloats, "",
     R"(product = MatMul(X, W)
        Y = com.microsoft.FastGelu(product, bias))"},
    {"GreedySearch",
     "input_ids:I max_length:I min_length:I? repetition_penalty:T? "
     "vocab_mask:I? prefix_vocab_mask:I? attention_mask:I?",
     "sequences:I", "T:float I:int32",
     "decoder:g! decoder_start_token_id:i encoder:g eos_token_id:i! "
     "init_decoder:g model_type:i no_repeat_ngram_size:i pad_token_id:i! "
     "vocab_size:i"},
    {"GridSample", "X:T Grid:T", "Y:T", "T:float",
     "align_corners:i mode:s=bilinear padding_mode:s",
     R"([mode=bilinear] Y = GridSample<align_corners: int = @align_corners, mode = "linear", padding_mode: string = @padding_mode>(X, Grid)
        [mode=bicubic] Y = GridSample<align_corners: int = @align_corners, mode = "cubic", padding_mode: string = @padding_mode>(X, Grid)
        [mode=nearest] Y = GridSample<align_corners: int = @align_corners, mode = "nearest", padding_mode: string = @padding_mode>(X, Grid))"},
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
    {"Inverse", "X:T", "Y:T", kCommonFloats, ""},
    {"MatMulBnb4", "A:T1 B:uint8 absmax:T1", "Y:T1",
     "T1:float,float16,bfloat16",
     "K:i! N:i! block_size:i! quant_type:i! training_mode:i transB:i=1"},
    {"MatMulInteger16", "A:T B:T", "Y:int32", "T:int16", "",
     R"(a = Cast<to = 6>(A)
        b = Cast<to = 6>(B)
        Y = MatMul(a, b))"},
    {"MatMulIntegerToFloat",
     "A:T1 B:T2 a_scale:T3 b_scale:T3 a_zero_point:T1? b_zero_point:T2? "
     "bias:T3?",
     "Y:T3", "T1:int8,uint8 T2:int8,uint8 T3:float,float16", "",
     R"(one = Constant<value_ints = [1]>()
        a = Reshape(a_scale, one)
        a_wide = Cast<to = 1>(a)
        b_wide = Cast<to = 1>(b_scale)
        scale = Mul(a_wide, b_wide)
        steps = MatMulInteger(A, B, a_zero_point, b_zero_point)
        number = Cast<to = 1>(steps)
        wide = Mul(number, scale)
        product = CastLike(wide, b_scale)
        [bias] Y = Add(product, bias)
        [!bias] Y = Identity(product))"},
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
    {"MulInteger", "A:T A_zero_point:T? B:T B_zero_point:T?", "C:int32", kBytes,
     "",
     R"(a = Cast<to = 6>(A)
        b = Cast<to = 6>(B)
        [A_zero_point] a_zero = Cast<to = 6>(A_zero_point)
        [A_zero_point] a_steps = Sub(a, a_zero)
        [!A_zero_point] a_steps = Identity(a)
        [B_zero_point] b_zero = Cast<to = 6>(B_zero_point)
        [B_zero_point] b_steps = Sub(b, b_zero)
        [!B_zero_point] b_steps = Identity(b)
        C = Mul(a_steps, b_steps))"},
    {"MultiHeadAttention",
     "query:T key:T? value:T? bias:T? key_padding_mask:int32? "
     "attention_bias:T? past_key:T? past_value:T? past_sequence_length:int32? "
     "cache_indirection:int32?",
     "output:T present_key:T? present_value:T? qk:T?", kFloats,
     "mask_filter_value:f num_heads:i! scale:f unidirectional:i"},
    {"NhwcConv", "X:T W:T B:T?", "Y:T", kCommonFloats, kConvAttributes},
    {"NhwcFusedConv", "X:T W:T B:T? Z:T?", "Y:T", "T:float,float16",
     kFusedConvAttributes},
    {"NhwcMaxPool", "x:T", "y:T", kBytes,
     "auto_pad:s ceil_mode:i dilations:I kernel_shape:I! pads:I strides:I",
     R"(planes = Transpose<perm = [0, 3, 1, 2]>(x)
        pooled = MaxPool<auto_pad: string = @auto_pad, ceil_mode: int = @ceil_mode, dilations: ints = @dilations, kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides>(planes)
        y = Transpose<perm = [0, 2, 3, 1]>(pooled))"},
    {"Pad", "data:T pads:int64 value:T?", "output:T", kCommonFloats, "mode:s",
     "output = Pad<mode: string = @mode>(data, pads, value)"},
    {"QAttention",
     "input:T1 weight:T2 bias:T3 input_scale:T3 weight_scale:T3 mask_index:T4? "
     "input_zero_point:T1? weight_zero_point:T2? past:T3?",
     "output:T3 present:T3?",
     "T1:int8,uint8 T2:int8,uint8 T3:float,float16 T4:int32",
     "do_rotary:i mask_filter_value:f num_heads:i! past_present_share_buffer:i "
     "scale:f unidirectional:i",
     R"(x = DequantizeLinear(input, input_scale, input_zero_point)
        w = DequantizeLinear<axis = 1>(weight, weight_scale, weight_zero_point)
        output, present = com.microsoft.Attention<do_rotary: int = @do_rotary, mask_filter_value: float = @mask_filter_value, num_heads: int = @num_heads, past_present_share_buffer: int = @past_present_share_buffer, scale: float = @scale, unidirectional: int = @unidirectional>(x, w, bias, mask_index, past))"},
    {"QEmbedLayerNormalization",
     "input_ids:int32 segment_ids:int32? word_embedding_quant:T2 "
     "position_embedding_quant:T2 segment_embedding:T2? gamma_quant:T2 "
     "beta_quant:T2 mask:int32? word_embedding_scale:T "
     "position_embedding_scale:T segment_embedding_scale:T? gamma_scale:T "
     "beta_scale:T word_embedding_zero_point:T2 "
     "position_embedding_zero_point:T2 segment_embedding_zero_point:T2? "
     "gamma_zero_point:T2 beta_zero_point:T2",
     "layernorm_out:T mask_index_out:int32", "T:float T2:int8,uint8",
     "epsilon:f",
     R"(words = DequantizeLinear(word_embedding_quant, word_embedding_scale, word_embedding_zero_point)
        places = DequantizeLinear(position_embedding_quant, position_embedding_scale, position_embedding_zero_point)
        [segment_embedding] segments = DequantizeLinear(segment_embedding, segment_embedding_scale, segment_embedding_zero_point)
        gamma = DequantizeLinear(gamma_quant, gamma_scale, gamma_zero_point)
        beta = DequantizeLinear(beta_quant, beta_scale, beta_zero_point)
        [segment_embedding] layernorm_out, mask_index_out = com.microsoft.EmbedLayerNormalization<epsilon: float = @epsilon>(input_ids, segment_ids, words, places, segments, gamma, beta, mask)
        [!segment_embedding] layernorm_out, mask_index_out = com.microsoft.EmbedLayerNormalization<epsilon: float = @epsilon>(input_ids, , words, places, , gamma, beta, mask))"},
    {"QGemm",
     "A:TA a_scale:T a_zero_point:TA B:TB b_scale:T b_zero_point:TB C:TC? "
     "y_scale:T? y_zero_point:TYZ?",
     "Y:TY",
     "T:float TA:uint8,int8 TB:uint8,int8 TC:int32 TYZ:uint8,int8 "
     "TY:float,uint8,int8",
     "alpha:f=1 transA:i transB:i",
     R"(a = DequantizeLinear(A, a_scale, a_zero_point)
        [transB=0] b = DequantizeLinear<axis = 1>(B, b_scale, b_zero_point)
        [!transB=0] b = DequantizeLinear<axis = 0>(B, b_scale, b_zero_point)
        product = Gemm<alpha: float = @alpha, transA: int = @transA, transB: int = @transB>(a, b)
        [C] c_number = Cast<to = 1>(C)
        [C] c_scale = Mul(a_scale, b_scale)
        [C] c = Mul(c_number, c_scale)
        [C] y = Add(product, c)
        [!C] y = Identity(product)
        [y_scale] Y = QuantizeLinear(y, y_scale, y_zero_point)
        [!y_scale] Y = Identity(y))"},
    {"QLinearAdd",
     "A:T A_scale:float A_zero_point:T? B:T B_scale:float B_zero_point:T? "
     "C_scale:float C_zero_point:T?",
     "C:T", kBytes, "",
     R"(a = DequantizeLinear(A, A_scale, A_zero_point)
        b = DequantizeLinear(B, B_scale, B_zero_point)
        c = Add(a, b)
        C = QuantizeLinear(c, C_scale, C_zero_point))"},
    {"QLinearAveragePool",
     "X:T x_scale:float x_zero_point:T? y_scale:float y_zero_point:T?", "Y:T",
     kBytes,
     "auto_pad:s ceil_mode:i channels_last:i count_include_pad:i "
     "kernel_shape:I! pads:I strides:I",
     R"(x = DequantizeLinear(X, x_scale, x_zero_point)
        [channels_last=0] y = AveragePool<auto_pad: string = @auto_pad, ceil_mode: int = @ceil_mode, count_include_pad: int = @count_include_pad, kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides>(x)
        [channels_last=0] Y = QuantizeLinear(y, y_scale, y_zero_point))"},
    {"QLinearConcat", "Y_scale:float Y_zero_point:T inputs:TV*", "Y:T",
     "T:uint8,int8 TV:uint8,int8,float", "axis:i!"},
    {"QLinearConv",
     "x:T1 x_scale:float x_zero_point:T1 w:T2 w_scale:float w_zero_point:T2 "
     "y_scale:float y_zero_point:T3 B:int32?",
     "y:T3", "T1:int8,uint8 T2:int8,uint8 T3:int8,uint8",
     "auto_pad:s channels_last:i dilations:I group:i kernel_shape:I pads:I "
     "strides:I",
     R"([!channels_last=0] first = Transpose<perm = [0, 3, 1, 2]>(x)
        [channels_last=0] first = Identity(x)
        made = QLinearConv<auto_pad: string = @auto_pad, dilations: ints = @dilations, group: int = @group, kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides>(first, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)
        [!channels_last=0] y = Transpose<perm = [0, 2, 3, 1]>(made)
        [channels_last=0] y = Identity(made))"},
    {"QLinearGlobalAveragePool",
     "X:T x_scale:float x_zero_point:T y_scale:float y_zero_point:T", "Y:T",
     kBytes, "channels_last:i",
     R"(x = DequantizeLinear(X, x_scale, x_zero_point)
        [channels_last=0] y = GlobalAveragePool(x)
        [!channels_last=0] first = Transpose<perm = [0, 3, 1, 2]>(x)
        [!channels_last=0] mean = GlobalAveragePool(first)
        [!channels_last=0] y = Transpose<perm = [0, 2, 3, 1]>(mean)
        Y = QuantizeLinear(y, y_scale, y_zero_point))"},
    {"QLinearLeakyRelu",
     "X:T X_scale:float X_zero_point:T? Y_scale:float Y_zero_point:T?", "Y:T",
     kBytes, "alpha:f=0.01",
     R"(x = DequantizeLinear(X, X_scale, X_zero_point)
        y = LeakyRelu<alpha: float = @alpha>(x)
        Y = QuantizeLinear(y, Y_scale, Y_zero_point))"},
    {"QLinearMul",
     "A:T A_scale:float A_zero_point:T? B:T B_scale:float B_zero_point:T? "
     "C_scale:float C_zero_point:T?",
     "C:T", kBytes, "",
     R"(a = DequantizeLinear(A, A_scale, A_zero_point)
        b = DequantizeLinear(B, B_scale, B_zero_point)
        c = Mul(a, b)
        C = QuantizeLinear(c, C_scale, C_zero_point))"},
    {"QLinearReduceMean",
     "data:T data_scale:float data_zero_point:T? reduced_scale:float "
     "reduced_zero_point:T?",
     "reduced:T", kBytes, "axes:I! keepdims:i!",
     R"(x = DequantizeLinear(data, data_scale, data_zero_point)
        dims = Constant<value_ints: ints = @axes>()
        y = ReduceMean<keepdims: int = @keepdims>(x, dims)
        reduced = QuantizeLinear(y, reduced_scale, reduced_zero_point))"},
    {"QLinearSigmoid",
     "X:T X_scale:float X_zero_point:T? Y_scale:float Y_zero_point:T?", "Y:T",
     kBytes, "",
     R"(x = DequantizeLinear(X, X_scale, X_zero_point)
        y = Sigmoid(x)
        Y = QuantizeLinear(y, Y_scale, Y_zero_point))"},
    {"QLinearSoftmax",
     "X:T X_scale:float x_zero_point:T? y_scale:float y_zero_point:T", "Y:T",
     kBytes, "axis:i=-1 opset:i!",
     R"(x = DequantizeLinear(X, X_scale, x_zero_point)
        [!opset<13] y = Softmax<axis: int = @axis>(x)
        [opset<13] rows = Flatten<axis: int = @axis>(x)
        [opset<13] weights = Softmax<axis = 1>(rows)
        [opset<13] sizes = Shape(x)
        [opset<13] y = Reshape(weights, sizes)
        Y = QuantizeLinear(y, y_scale, y_zero_point))"},
    {"QLinearWhere",
     "condition:bool X:T x_scale:float x_zero_point:T Y:T y_scale:float "
     "y_zero_point:T z_scale:float z_zero_point:T",
     "Z:T", kBytes, "",
     R"(x = DequantizeLinear(X, x_scale, x_zero_point)
        y = DequantizeLinear(Y, y_scale, y_zero_point)
        z = Where(condition, x, y)
        Z = QuantizeLinear(z, z_scale, z_zero_point))"},
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
     "T1:float,float16 T2:int8,uint8,int16,uint16,int4,uint4", "axis:i=1",
     "y = QuantizeLinear<axis: int = @axis>(x, y_scale, y_zero_point)"},
    {"QuickGelu", "X:T", "Y:T", kAllFloats, "alpha:f"},
    {"Range", "start:T limit:T delta:T?", "Y:T",
     "T:double,float,int16,int32,int64", "",
     R"(one = Constant<value_int = 1>()
        step = CastLike(one, start)
        [delta] Y = Range(start, limit, delta)
        [!delta] Y = Range(start, limit, step))"},
    {"ReduceSumInteger", "data:T1", "reduced:int32", "T1:int8,uint8",
     "axes:I! keepdims:i!",
     R"(wide = Cast<to = 6>(data)
        dims = Constant<value_ints: ints = @axes>()
        reduced = ReduceSum<keepdims: int = @keepdims>(wide, dims))"},
    {"RelativePositionBias", "bias_table:T query_length:U key_length:U",
     "output:T", "T:float,float16 U:int64",
     "is_bidirectional:i max_distance:i!"},
    {"RotaryEmbedding", "input:T position_ids:int64 cos_cache:T sin_cache:T",
     "output:T", kFloats,
     "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i "
     "scale:f"},
    {"Sampling",
     "input_ids:I max_length:I min_length:I? repetition_penalty:T? "
     "vocab_mask:I? prefix_vocab_mask:I? attention_mask:I? presence_mask:I? "
     "seed:I?",
     "sequences:I filtered_logits:T?", "T:float I:int32",
     "custom:i decoder:g! decoder_start_token_id:i encoder:g eos_token_id:i! "
     "filter_value:f init_decoder:g min_tokens_to_keep:i model_type:i "
     "no_repeat_ngram_size:i pad_token_id:i! presence_penalty:f temperature:f "
     "top_p:f vocab_size:i"},
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
    {"Tokenizer", "X:T", "Y:T", "T:string",
     "mark:i! mincharnum:i! pad_value:s! separators:S tokenexp:s"},
    {"TransposeMatMul", "A:T B:T", "Y:T", kCommonFloats,
     "alpha:f transA:i transB:i",
     "Y = com.microsoft.FusedMatMul<alpha: float = @alpha, transA: int = "
     "@transA, transB: int = @transB>(A, B)"},
    {"Trilu", "X:T k:int64?", "Y:T", "T:double,float,bool,int64", "upper:i",
     "Y = Trilu<upper: int = @upper>(X, k)"},
    {"Unique", "x:T", "y:T idx:int64 counts:int64", "T:float", "",
     "y, first, idx, counts = Unique<sorted = 0>(x)"},
};

llvm::ArrayRef<Row> adze::importer::getMicrosoftRows() { return kRows; }
