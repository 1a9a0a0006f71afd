# The image of every component: `hedgerow run COMPONENT --config FILE`. It needs no root, and writes no file
# but the one that `--record` names and, where it renders charts, temporary ones.
#
#   docker build -t hedgerow:0.1.0 .
#
# docs/installation.md says how to pin the images that it begins with by digest, and how to get the same layers twice.
# `make image` builds the image without a container builder.

ARG PYTHON_IMAGE=python:3.13.7-slim-bookworm
ARG GO_IMAGE=golang:1.26.8-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_COMPILE=1
RUN python -m venv --without-pip /opt/hedgerow
COPY requirements/build.txt requirements/image.txt requirements/
RUN python -m pip install --require-hashes -r requirements/build.txt \
 && python -m pip --python /opt/hedgerow install --require-hashes --only-binary :all: -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY core core
COPY adapters adapters
COPY entrypoints entrypoints
COPY examples examples
COPY deploy/charts deploy/charts
RUN python -m hatchling build -t wheel -d /build/dist \
 && python -m pip --python /opt/hedgerow install --no-deps --no-index /build/dist/*.whl
# Byte code that says nothing of when it was made: the file system is read-only, so that its source never changes.
RUN PYTHONHASHSEED=0 python -m compileall -q --invalidation-mode unchecked-hash /opt/hedgerow/lib

# Renders the charts of extensions; its modules are checked by their sums.
FROM ${GO_IMAGE} AS helm
WORKDIR /build
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
COPY tests/e2e/helm .
RUN go build -trimpath -buildvcs=false -mod=readonly -ldflags="-s -w" -o /helm helm.sh/helm/v3/cmd/helm

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0 REVISION=unknown
LABEL org.opencontainers.image.title="hedgerow" \
      org.opencontainers.image.description="Kubernetes control-plane controllers whose decisions are pure functions" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=helm /helm /usr/local/bin/helm
COPY --from=build /opt/hedgerow /opt/hedgerow
ENV PATH=/opt/hedgerow/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["hedgerow"]
