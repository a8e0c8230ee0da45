import { type ClientOptions, WebSocket } from 'ws'

/** The end of a socket. */
export interface End {
  readonly code: number
  readonly reason: string
}

/** A WebSocket of a caller that collects what it gets. */
export interface Caller {
  readonly ws: WebSocket
  readonly received: readonly string[]
  readonly ended: Promise<End>
  /** Resolves with the next message that no other call has got. */
  next(): Promise<string>
}

/** An answer of HTTP in the place of a socket. */
export interface Refused {
  readonly status: number
  readonly body: { readonly code?: string; readonly error?: string }
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Opens a WebSocket; resolves with the answer of a server that refuses. */
function openSocket(url: string, options: ClientOptions = {}): Promise<Caller | Refused> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url.replace(/^http/, 'ws'), { perMessageDeflate: false, ...options })
    const received: string[] = []
    const wanted: ((text: string) => void)[] = []
    let taken = 0
    ws.on('message', (data) => {
      received.push(String(data))
      const first = wanted.shift()
      if (first === undefined) return
      taken += 1
      first(String(data))
    })
    const ended = new Promise<End>((end) =>
      ws.once('close', (code, reason) => end({ code, reason: String(reason) })),
    )
    const next = () => {
      const known = received[taken]
      if (known === undefined) return new Promise<string>((got) => wanted.push(got))
      taken += 1
      return Promise.resolve(known)
    }
    ws.once('open', () => resolve({ ws, received, ended, next }))
    ws.on('error', reject)
    ws.once('unexpected-response', (_request, response) => {
      let text = ''
      response.on('data', (piece) => {
        text += String(piece)
      })
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: text === '' ? {} : JSON.parse(text),
          headers: response.headers,
        }),
      )
    })
  })
}

/** Opens a WebSocket that must open. */
export async function mustOpen(url: string, options?: ClientOptions): Promise<Caller> {
  const opened = await openSocket(url, options)
  if ('status' in opened) throw new Error(`refused: ${opened.status} ${JSON.stringify(opened.body)}`)
  return opened
}

/** Opens a WebSocket that must be refused. */
export async function mustRefuse(url: string, options?: ClientOptions): Promise<Refused> {
  const opened = await openSocket(url, options)
  if ('status' in opened) return opened
  opened.ws.terminate()
  throw new Error('it opened')
}
