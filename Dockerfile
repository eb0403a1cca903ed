# Two stages: the final image contains no compiler and no tests, and its user cannot write to the program.

FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python -m venv /opt/domino
COPY locks/run.txt locks/run.txt
RUN /opt/domino/bin/pip install --require-hashes -r locks/run.txt
COPY pyproject.toml LICENSE README.md ./
COPY service service
RUN /opt/domino/bin/pip install --no-deps .

FROM python:3.13-slim
RUN groupadd --system --gid 10001 domino \
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
USER domino
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['PORT']}/healthz\", timeout=3)"]
CMD ["domino-service", "serve"]
