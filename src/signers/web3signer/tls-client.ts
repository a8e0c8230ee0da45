import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { createHttpClient, type HttpClient } from '../../lib/http/http-client.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** The files of a client certificate, in PEM. */
export interface TlsPaths {
  /** The authorities that the server's certificate must come from. Default: those of Node.js. */
  readonly caPath?: string
  readonly certPath: string
  readonly keyPath: string
}

/** The longest answer, in bytes: a list of a thousand public keys and more. */
const MAX_ANSWER_BYTES = 256 * 1024

/** Creates a client that shows a certificate. It reads the files at the first request, and again as long as one of them cannot be read. */
export function createTlsClient(paths: TlsPaths): Pick<HttpClient, 'post'> {
  let opened: Promise<HttpClient> | undefined

  function present(): Promise<HttpClient> {
    if (opened !== undefined) return opened
    const made = open(paths)
    opened = made
    made.catch(() => {
      opened = undefined
    })
    return made
  }

  return { post: async (request) => (await present()).post(request) }
}

async function open({ caPath, certPath, keyPath }: TlsPaths): Promise<HttpClient> {
  const [cert, key, ca] = await Promise.all([read(certPath), read(keyPath), caPath && read(caPath)])
  const tls = { cert, key, ...(ca && { ca }) }
  try {
    // Connections would find the fault one by one, in words of their own.
    createSecureContext(tls)
  } catch (cause) {
    throw new RemoteFault('refused', `cannot be asked: ${certPath} and ${keyPath} are no pair in PEM`, {
      cause,
    })
  }
  return createHttpClient({ tls, wholeBodyBytes: MAX_ANSWER_BYTES })
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException
    throw new RemoteFault('refused', `cannot be asked: the file ${path} cannot be read (${code})`, { cause })
  }
}
