import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHttpClient, type HttpClientOptions, type PostRequest } from '../../src/lib/http/http-client.ts'

/** A server on this machine, and a client; both stop with the test. */
async function start(answer: RequestListener, options: HttpClientOptions = {}) {
  let connections = 0
  const server = createServer(answer).on('connection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = createHttpClient(options)
  onTestFinished(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    post: (headers = {}, to = url, more: Partial<PostRequest> = {}) =>
      client.post({ url: to, headers, body: '{}', timeoutMs: 2_000, ...more }),
    connections: () => connections,
  }
}

const TEXT = 'answer '.repeat(1_000)

test('a client of whole bodies accepts gzip, and decompresses it', async () => {
  let accepted: unknown
  const { post } = await start(
    (request, response) => {
      accepted = request.headers['accept-encoding']
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT))
    },
    { wholeBodyBytes: TEXT.length },
  )
  expect((await post()).body).toBe(TEXT)
  expect(accepted).toBe('gzip')
})

test('the limit counts decompressed bytes', async () => {
  const { post } = await start(
    (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT)),
    { wholeBodyBytes: TEXT.length - 1 },
  )
  await expect(post()).rejects.toThrow(`more than ${TEXT.length - 1} bytes`)
})

test('a compressed body that is damaged, or cut, is no answer', async () => {
  const whole = gzipSync(TEXT)
  for (const bytes of [Buffer.from('no gzip'), whole.subarray(0, whole.length >> 1)]) {
    const { post } = await start(
      (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes),
      { wholeBodyBytes: 100_000 },
    )
    await expect(post()).rejects.toThrow()
  }
})

test('a connection that breaks during a compressed body is no answer', async () => {
  const { post } = await start(
    (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '100000' })
      response.write(gzipSync(TEXT).subarray(0, 20), () => response.destroy())
    },
    { wholeBodyBytes: 100_000 },
  )
  await expect(post()).rejects.toThrow()
})

test('a client of beginnings does not ask for compression, and reads so much and no more', async () => {
  let accepted: unknown
  const { post } = await start((request, response) => {
    accepted = request.headers['accept-encoding']
    response.end('x'.repeat(20_000))
  })
  expect((await post()).body).toBe('x'.repeat(16_384))
  expect(accepted).toBeUndefined()
})

test('a connection that breaks during a plain body is no answer', async () => {
  const { post } = await start((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('a part', () => response.destroy())
  })
  await expect(post()).rejects.toThrow()
})

test('path, query and user information of a url reach the server', async () => {
  const seen: unknown[] = []
  const { url, post } = await start((request, response) => {
    seen.push(request.url, request.headers.authorization, request.headers.host)
    response.end()
  })
  const { host } = new URL(url)
  await post({}, `http://user:p%20w@${host}/hook?key=1#part`)
  expect(seen).toEqual(['/hook?key=1', `Basic ${btoa('user:p w')}`, host])
})

test('requests in sequence share a connection', async () => {
  const { post, connections } = await start((_request, response) => response.end('{}'), {
    wholeBodyBytes: 100,
  })
  await post()
  await post()
  expect(connections()).toBe(1)
})

/** A server that closes each connection when a further request comes over it, as one that has just timed out does. */
async function startForgetful() {
  const seen = new WeakSet<object>()
  const answered: string[] = []
  const started = await start(
    (request, response) => {
      if (seen.has(request.socket)) return request.socket.destroy()
      seen.add(request.socket)
      answered.push(request.url ?? '')
      return response.end('{}')
    },
    { wholeBodyBytes: 100 },
  )
  return { ...started, answered }
}

describe('a kept connection that the server has closed', () => {
  test('is replaced by a new one for a request that may be repeated', async () => {
    const { post, connections, answered } = await startForgetful()
    await post()
    expect(await post({}, undefined, { isRepeatable: true })).toMatchObject({ status: 200 })
    expect([answered.length, connections()]).toEqual([2, 2])
  })

  test('is an error for any other', async () => {
    const { post, answered } = await startForgetful()
    await post()
    await expect(post()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(answered).toHaveLength(1)
  })

  test('is told from one that the server closes immediately, which is not repeated', async () => {
    let asked = 0
    const { post } = await start((request) => {
      asked += 1
      request.socket.destroy()
    })
    await expect(post({}, undefined, { isRepeatable: true })).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(asked).toBe(1)
  })

  test('is told from one that breaks while it answers', async () => {
    let asked = 0
    const { post } = await start(
      (_request, response) => {
        asked += 1
        if (asked === 1) return void response.end('{}')
        response.writeHead(200, { 'content-length': '100' })
        response.write('a part', () => response.destroy())
      },
      { wholeBodyBytes: 1_000 },
    )
    await post()
    await expect(post({}, undefined, { isRepeatable: true })).rejects.toThrow()
    expect(asked).toBe(2)
  })
})

test('an idle connection is closed before a server of Go would close it', async () => {
  const closed = Promise.withResolvers<number>()
  let at = 0
  const { post } = await start((request, response) => {
    request.socket.on('close', () => closed.resolve(performance.now() - at))
    // Go tells no one how long it keeps a connection.
    response.shouldKeepAlive = true
    response.removeHeader('keep-alive')
    response.end('{}')
  })
  await post()
  at = performance.now()
  expect(await closed.promise).toBeLessThan(5_000)
})

test('a redirect is an answer like any other', async () => {
  let asked = 0
  const { post } = await start((_request, response) => {
    asked += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await post()).toMatchObject({ status: 307, headers: { location: '/elsewhere' } })
  expect(asked).toBe(1)
})

/** A server that writes these bytes again and again while someone reads them. */
async function startRaw(bytes: string): Promise<string> {
  const server = createTcpServer((socket) => {
    const write = () => {
      while (socket.writable && socket.write(bytes));
    }
    socket.on('error', () => {}).on('drain', write)
    socket.once('data', write)
    onTestFinished(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('an answer that HTTP does not know', () => {
  test.each([
    ['999', 'HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n', 'the server answered with status 999'],
    ['099', 'HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n', 'the server answered with status 99'],
  ])('with status %s is no answer', async (_status, bytes, message) => {
    const url = await startRaw(bytes)
    const client = createHttpClient({})
    onTestFinished(() => client.close())
    await expect(client.post({ url, headers: {}, body: '', timeoutMs: 5_000 })).rejects.toThrow(message)
  })

  test('that wants to speak another protocol is over immediately', async () => {
    const url = await startRaw(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    const client = createHttpClient({})
    onTestFinished(() => client.close())
    await expect(client.post({ url, headers: {}, body: '', timeoutMs: 1_000 })).rejects.toThrow(
      'the server answered with status 101',
    )
  })

  test('after informational answers without an end is over before the time-out', async () => {
    const url = await startRaw('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))
    const client = createHttpClient({})
    onTestFinished(() => client.close())
    await expect(client.post({ url, headers: {}, body: '', timeoutMs: 20_000 })).rejects.toThrow(
      'the server sent more than 16 informational answers',
    )
  })
})
