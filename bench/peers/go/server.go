// Go's own net/http with a client for Redis of few lines, in one process on so many threads. As bare as the floor.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const ttlSeconds = "2592000"

// connection is one to Redis, over its unix socket.
type connection struct {
	reader *bufio.Reader
	writer *bufio.Writer
}

var (
	idle   = make(chan *connection, 64)
	filler = bytes.Repeat([]byte("x"), 1<<20)
)

// ask sends a command and returns its reply: nil for none, and only the text of strings and numbers.
func ask(words ...[]byte) ([]byte, error) {
	redis, err := connect()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(redis.writer, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(redis.writer, "$%d\r\n", len(word))
		redis.writer.Write(word)
		redis.writer.WriteString("\r\n")
	}
	if err := redis.writer.Flush(); err != nil {
		return nil, err
	}
	line, err := redis.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	kind, text := line[0], append([]byte(nil), bytes.TrimSpace(line[1:])...)
	if kind == '$' {
		length, _ := strconv.Atoi(string(text))
		if length < 0 {
			text = nil
		} else {
			text = make([]byte, length+2)
			if _, err := io.ReadFull(redis.reader, text); err != nil {
				return nil, err
			}
			text = text[:length]
		}
	}
	idle <- redis
	if kind == '-' {
		return nil, errors.New(string(text))
	}
	return text, nil
}

func connect() (*connection, error) {
	select {
	case redis := <-idle:
		return redis, nil
	default:
	}
	socket, err := net.Dial("unix", os.Getenv("REDIS_SOCKET"))
	if err != nil {
		return nil, err
	}
	return &connection{bufio.NewReaderSize(socket, 1<<16), bufio.NewWriterSize(socket, 1<<16)}, nil
}

// load stores a script of the floor in Redis and returns its hash.
func load(name string) []byte {
	source, err := os.ReadFile(filepath.Join("bench", "floor", name+".lua"))
	if err != nil {
		panic(err)
	}
	hash, err := ask([]byte("SCRIPT"), []byte("LOAD"), source)
	if err != nil {
		panic(err)
	}
	return hash
}

func stored(version, length int) []byte {
	return append([]byte(strconv.Itoa(version)+" "), filler[:length]...)
}

// answer does what the floor does for a path, and returns the status and the length of the body.
func answer(method string, path []string, create, move []byte) (int, int, error) {
	var value, event, reply int
	if _, err := fmt.Sscanf(path[3], "%d-%d-%d-", &value, &event, &reply); err != nil {
		return http.StatusNotFound, 0, nil
	}
	key, events := []byte("floor:{"+path[3]+"}"), []byte("floor:{"+path[3]+"}:events")
	evalsha, two, ttl := []byte("EVALSHA"), []byte("2"), []byte(ttlSeconds)
	if method == "POST" && len(path) == 4 {
		_, err := ask(evalsha, create, two, key, events, stored(1, value), ttl, filler[:event])
		return http.StatusCreated, reply, err
	}
	before, err := ask([]byte("GET"), key)
	if err != nil || before == nil {
		return http.StatusNotFound, 0, err
	}
	if method == "GET" {
		return http.StatusOK, reply, nil
	}
	version, _ := strconv.Atoi(string(before[:bytes.IndexByte(before, ' ')]))
	expected := []byte(strconv.Itoa(version) + " ")
	made, err := ask(evalsha, move, two, key, events, expected, stored(version+1, value), ttl, filler[:event])
	if string(made) != "1" {
		return http.StatusConflict, 0, err
	}
	return http.StatusCreated, reply, err
}

func main() {
	workers, _ := strconv.Atoi(os.Getenv("WORKERS"))
	runtime.GOMAXPROCS(workers)
	create, move := load("create"), load("move")
	http.HandleFunc("/healthz", func(response http.ResponseWriter, _ *http.Request) {
		response.Write([]byte("{}"))
	})
	http.HandleFunc("/v1/games/", func(response http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		status, length, err := answer(request.Method, strings.Split(request.URL.Path, "/"), create, move)
		if err != nil {
			status, length = http.StatusInternalServerError, 0
		}
		response.Header().Set("Content-Type", "application/json")
		response.Header().Set("Content-Length", strconv.Itoa(length))
		response.WriteHeader(status)
		response.Write(filler[:length])
	})
	if err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}
