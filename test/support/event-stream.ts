import { API_KEY } from './service.ts'

/** A server-sent event, or a comment. */
export interface Frame {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly comment?: string
}

/** A stream as a reader sees it. */
export interface EventStream {
  readonly status: number
  readonly type: string | null
  /** The next frame; undefined at the end. */
  next(): Promise<Frame | undefined>
  /** All frames until the end, without comments. */
  rest(): Promise<Frame[]>
  close(): Promise<void>
}

/** Reads `/events/stream`. */
export async function openStream(
  url: string,
  { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<EventStream> {
  const response = await fetch(`${url}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${API_KEY}`, ...headers },
  })
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader()
  let text = ''
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const frame = toFrame(text.slice(0, end))
        text = text.slice(end + 2)
        return frame
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      text += value
    }
  }
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    next,
    rest: async () => {
      const frames: Frame[] = []
      for (let frame = await next(); frame !== undefined; frame = await next()) {
        if (frame.comment === undefined) frames.push(frame)
      }
      return frames
    },
    close: () => reader.cancel(),
  }
}

function toFrame(block: string): Frame {
  const fields = block.split('\n').map((line) => {
    const colon = line.indexOf(': ')
    return [line.slice(0, colon) || 'comment', line.slice(colon + 2)]
  })
  return Object.fromEntries(fields)
}
