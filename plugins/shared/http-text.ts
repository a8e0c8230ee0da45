/** A request that is bounded. */
export interface BoundedRequest {
  /** A body in JSON makes it a POST. */
  readonly body?: string
  /** In milliseconds, the reading of the answer included. */
  readonly timeoutMs: number
  /** The longest answer that is read, in characters. */
  readonly maxCharacters: number
}

/**
 * Requests JSON, and returns its text. Follows no redirects. @throws if it takes too long, is too long, or is
 * no success
 */
export async function requestText(
  url: string | URL,
  { body, timeoutMs, maxCharacters }: BoundedRequest,
): Promise<string> {
  const response = await fetch(url, {
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
  let text = ''
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part
    if (text.length > maxCharacters) throw new Error('too long')
  }
  return text
}
