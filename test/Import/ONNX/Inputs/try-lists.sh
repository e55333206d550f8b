# Sourced by tests of data-dependent faults.
#
# bytes COUNT NUMBER: prints its little-endian bytes as escapes of printf
bytes() {
  digits=$(printf '%016x' "$2")
  count=0
  while [ $count -lt $1 ]; do
    rest=${digits%??}
    printf '\\%03o' 0x${digits#$rest}
    digits=$rest
    count=$((count + 1))
  done
}
# try MODEL BYTES LIST..: runs the model with each comma-separated list of integers of
# this many bytes as its input i; "" is an empty list
try() {
  model=$1 width=$2
  shift 2
  onnx-as $model.onnxtxt -o $model.onnx
  for level in O0 O2; do
    atranslate $model.onnx -$level -o $model.$level.so
  done
  for list; do
    count=0
    : > i.bin
    for index in $(echo $list | tr , ' '); do
      printf "$(bytes $width $index)" >> i.bin
      count=$((count + 1))
    done
    for level in O0 O2; do
      arun $model.$level.so --random --ids 1 $more --input i=i.bin --shape i=$count > run.log 2>&1 && s=0 || s=$?
      case $s in
        0) echo ok > result.$level ;;
        1) sed -n 1p run.log > result.$level ;;
        *) echo "status $s" > result.$level ;;
      esac
    done
    cmp -s result.O0 result.O2 || echo "-O0 and -O2 differ: $(cat result.O0)"
    echo "$model [$list]: $(cat result.O2)"
  done
}
