# Adze in a container: built from this clone, installed as its Debian package.
#   docker build -t adze .
#   docker run --rm -v "$PWD:/models" -w /models adze atranslate model.onnx -o model.so
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make
COPY . /source
RUN make -C /source package

FROM debian:12-slim
COPY --from=build /source/build/packages/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
CMD ["atranslate", "--help"]
