# The image of every component: `hedgerow run COMPONENT --config FILE`. It needs no root, and writes no file
# but the one that `--record` names and, where it renders charts, temporary ones.
#
#   docker build -t hedgerow:0.1.0 .

FROM python:3.13.7-slim-bookworm AS build
WORKDIR /build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
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

# Renders the charts of extensions; its modules are checked by their sums.
FROM golang:1.26.8-bookworm AS helm
WORKDIR /build
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
COPY tests/e2e/helm .
RUN go build -trimpath -mod=readonly -ldflags="-s -w" -o /helm helm.sh/helm/v3/cmd/helm

FROM python:3.13.7-slim-bookworm
COPY --from=helm /helm /usr/local/bin/helm
COPY --from=build /opt/hedgerow /opt/hedgerow
ENV PATH=/opt/hedgerow/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["hedgerow"]
