# Two stages: the final image contains no compiler, no pip and no tests, and its user cannot write to the program.
# The base is fixed by its digest; docs/operations/deploy.md says how to renew it.

ARG BASE=python:3.13.15-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
# Compiles the engine (docs/adr/smaller-decisions.md).
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY locks/compile.txt locks/run.txt locks/
RUN python -m venv --without-pip /opt/domino \
    && python -m pip install --no-deps --require-hashes --only-binary :all: -r locks/compile.txt \
    && python -m pip --python /opt/domino/bin/python install --no-deps --require-hashes --only-binary :all: -r locks/run.txt
COPY pyproject.toml LICENSE README.md ./
COPY service service
COPY tools/wheel_compiled.py tools/
RUN python tools/wheel_compiled.py dist \
    && python -m pip --python /opt/domino/bin/python install --no-index --no-deps dist/*.whl

FROM ${BASE}
RUN python -m pip uninstall --yes --root-user-action=ignore pip \
    && python -c "import ensurepip, shutil; shutil.rmtree(ensurepip.__path__[0])" \
    && groupadd --system --gid 10001 domino \
    && useradd --system --uid 10001 --gid domino --home-dir /data --no-create-home --shell /usr/sbin/nologin domino \
    && install --directory --owner=domino --group=domino --mode=700 /data
COPY --from=build /opt/domino /opt/domino
ENV PATH=/opt/domino/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    PORT=8000 \
    DATA_DIR=/data
WORKDIR /opt/domino
# By number, so that Kubernetes can see that it is not root.
USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# For Docker's format of images; OCI's has no health check, so compose.yaml and examples/kubernetes have their own.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['PORT']}/healthz\", timeout=3)"]
CMD ["domino-service", "serve"]
