FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /out/leaderboard ./cmd/leaderboard

# No shell, no package manager; certificates, time zones and user 65532 are there.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/leaderboard /usr/local/bin/leaderboard
ENV LEADERBOARD_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["/usr/local/bin/leaderboard", "health"]
ENTRYPOINT ["/usr/local/bin/leaderboard"]
CMD ["serve"]
