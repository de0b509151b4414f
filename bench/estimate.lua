-- A question that nobody asked before, each time: as many as possible, or with a pause of so many milliseconds after each.
--   wrk -t2 -c64 -d30s --latency -s bench/estimate.lua http://127.0.0.1:8080/v1/estimate
--   wrk -t1 -c1 -d30s --latency -s bench/estimate.lua http://127.0.0.1:8080/v1/estimate -- 5
local threads = 0

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init(arguments)
  asked = 0
  pause = tonumber(arguments[1]) or 0
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  asked = asked + 1
  local isl = 100 + (asked * 2 + id) % 100000
  local clients = 1 + math.floor(asked / 50000)
  return wrk.format(nil, nil, nil, string.format(
    '{"kind": "infer", "model": "llama3.3-70b", "device": "h200-sxm", "gpus": 2, "precision": "fp8", ' ..
    '"isl": %d, "osl": 250, "concurrency": %d}', isl, clients))
end

function delay()
  return pause
end

function done(summary)
  local e = summary.errors
  io.write(string.format("errors: %d connect, %d read, %d write, %d status, %d timeout\n",
    e.connect, e.read, e.write, e.status, e.timeout))
end
