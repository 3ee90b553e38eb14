# docker build -t medsim .
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" medsim build hpo -o hpo
FROM python:3.11-slim

ARG EXTRAS=hpo
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY medsim medsim
COPY sql sql
RUN pip install --no-cache-dir -c constraints.txt ".[$EXTRAS]" && rm -r /source/*

# The search is compiled here, for the kind of processor that the image is built on. On another kind,
# containers compile again what they run.
ENV NUMBA_CACHE_DIR=/var/cache/medsim
RUN useradd --uid 1000 --create-home medsim && install -d -o medsim -g medsim "$NUMBA_CACHE_DIR" /data
USER 1000
RUN medsim warm

WORKDIR /data
ENTRYPOINT ["medsim"]
CMD ["--help"]
