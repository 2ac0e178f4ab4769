FROM golang:1.26 AS build
WORKDIR /src
COPY . .
# The context has no .git: make image and docker-compose.yml say what is built. At a tag that is its version.
ARG VERSION COMMIT
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath \
    -ldflags="-s -w -X leaderboard/internal/app.version=$VERSION -X leaderboard/internal/app.commit=$COMMIT" \
    -o /out/leaderboard ./cmd/leaderboard && \
    go build -C workshop -o /out/release ./release && /out/release prepare /out/leaderboard /out/files

# No shell, no package manager; certificates, time zones and user 65532 are there.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION COMMIT
LABEL org.opencontainers.image.title=leaderboard \
    org.opencontainers.image.description="A leaderboard service: MySQL is the database, Redis a cache" \
    org.opencontainers.image.version=$VERSION \
    org.opencontainers.image.revision=$COMMIT \
    org.opencontainers.image.source=https://repository.example/leaderboard \
    org.opencontainers.image.licenses=Apache-2.0
COPY --from=build /out/leaderboard /usr/local/bin/leaderboard
COPY --from=build /src/LICENSE /out/files/THIRD-PARTY-LICENSES.txt /usr/share/doc/leaderboard/
ENV LEADERBOARD_LISTEN=0.0.0.0:8080
EXPOSE 8080
# Whether the process works, not whether it is ready: without MySQL it has stale answers, and a new one would have none.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["/usr/local/bin/leaderboard", "health"]
ENTRYPOINT ["/usr/local/bin/leaderboard"]
CMD ["serve"]
