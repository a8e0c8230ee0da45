/** A block of a stream of server-sent events. One without data is no event: it tells the id, or only that the stream is alive. */
export interface ServerSentBlock {
  readonly id?: string
  readonly data?: string
}

/**
 * Reads the blocks of a stream (HTML Living Standard, "Interpreting an event stream"). Ends with the stream, or when the signal aborts: the
 * platform can lose the signal of a request whose answer has begun.
 */
export async function* readBlocks(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<ServerSentBlock> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  // Closes the connection; an error of it ends the stream, too.
  const close = () => reader.cancel().catch(() => {})
  signal.addEventListener('abort', close)
  let text = ''
  try {
    if (signal.aborted) return
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += decoder.decode(read.value, { stream: true })
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r/)
      text = blocks.pop() ?? ''
      yield* blocks.map(toBlock)
    }
  } finally {
    signal.removeEventListener('abort', close)
    // No one reads on.
    await close()
  }
}

function toBlock(text: string): ServerSentBlock {
  const lines = text.split(/\r\n|\n|\r/).map(toField)
  const data = lines.flatMap(([name, value]) => (name === 'data' ? [value] : []))
  const id = lines.findLast(([name]) => name === 'id')?.[1]
  return { ...(id !== undefined && { id }), ...(data.length > 0 && { data: data.join('\n') }) }
}

/** A line without a colon is a field without a value; a comment is a field without a name. */
function toField(line: string): readonly [name: string, value: string] {
  const [, name = line, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
  return [name, value]
}
