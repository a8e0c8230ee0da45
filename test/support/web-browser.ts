/** The part of a browser that a sign-in needs: it follows redirects, and keeps the cookies of each host and port. */
export interface WebBrowser {
  /** Opens an address as a person does, and follows every redirect. */
  visit(url: string, stop?: (url: URL) => boolean): Promise<Visit>
  /** Calls the API as a page of the console does; `headers` replaces its own, and an empty text leaves one out. */
  api(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>
  /** The cookies of an origin, by name. */
  cookies(origin: string): Map<string, string>
}

interface ApiOptions {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

export interface ApiAnswer {
  readonly status: number
  readonly code: string | undefined
  readonly error: string | undefined
  // Tests know what they asked for.
  readonly data: Record<string, never> & readonly never[]
}

/** The last answer, or the address where the visit stopped. */
export interface Visit {
  readonly url: URL
  readonly status: number
  readonly text: string
  /** The `Set-Cookie` headers of all answers. */
  readonly setCookies: readonly string[]
}

/** Opens a browser without cookies for the service at this origin. */
export function openWebBrowser(service: string): WebBrowser {
  const jars = new Map<string, Map<string, string>>()
  const cookies = (origin: string) => {
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }
  const send = async (url: URL, options: RequestInit & { headers?: Record<string, string> }) => {
    const jar = cookies(url.origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, {
      ...options,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...options.headers },
    })
    for (const line of answer.headers.getSetCookie()) keep(jar, line)
    return answer
  }
  return {
    cookies,
    visit: async (start, stop = () => false) => {
      const setCookies: string[] = []
      let url = new URL(start)
      for (let count = 0; count < 20; count += 1) {
        if (stop(url)) return { url, status: 0, text: '', setCookies }
        const answer = await send(url, {})
        setCookies.push(...answer.headers.getSetCookie())
        const text = await answer.text()
        const location = answer.headers.get('location')
        if (location === null) return { url, status: answer.status, text, setCookies }
        url = new URL(location, url)
      }
      throw new Error(`${start} redirects without an end`)
    },
    api: async (method, path, { body, headers = {} } = {}) => {
      const all: Record<string, string> = {
        'x-csrf-protection': '1',
        origin: service,
        'sec-fetch-site': 'same-origin',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      }
      const answer = await send(new URL(`${service}/api/v1${path}`), {
        method,
        headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
        ...(body && { body: JSON.stringify(body) }),
      })
      const { data, code, error } = (await answer.json()) as ApiAnswer
      return { status: answer.status, data, code, error }
    },
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const at = pair.indexOf('=')
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
  const isOver = attributes.some((one) => /^max-age=0$/i.test(one) || /^expires=thu, 01 jan 1970/i.test(one))
  if (isOver) jar.delete(name)
  else jar.set(name, value)
}
