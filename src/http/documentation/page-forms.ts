import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Page } from '../../contract/docs.ts'

/** The encodings in the order of preference. */
const ENCODINGS = ['br', 'gzip'] as const

type Encoding = (typeof ENCODINGS)[number]

/** A page as it is sent. */
export interface PageForm {
  readonly encoding: Encoding | undefined
  readonly body: Buffer
  /** The strong validator of these bytes, with its quotes. */
  readonly etag: string
}

/** The highest quality takes seconds of CPU for one or two per cent. */
const BROTLI_QUALITY = 9

const COMPRESS: Readonly<Record<Encoding, (body: string) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body) => promisify(gzip)(body),
}

/**
 * Gives the form of a page for the encodings that a reader accepts. Each form is made once, at its first use; until then nothing
 * reads the page, whose body may have to be made, too.
 */
export function createPageForms(page: Page): (accepts: (encoding: string) => boolean) => Promise<PageForm> {
  const forms = new Map<Encoding, Promise<PageForm>>()
  const make = async (encoding: Encoding): Promise<PageForm> => ({
    encoding,
    body: await COMPRESS[encoding](page.body),
    etag: `"${page.version}-${encoding}"`,
  })
  // One copy for all readers: a text would be encoded anew for each connection that does not read.
  let plain: PageForm | undefined
  return async (accepts) => {
    const encoding = ENCODINGS.find(accepts)
    if (encoding === undefined) {
      plain ??= { encoding, body: Buffer.from(page.body), etag: `"${page.version}"` }
      return plain
    }
    const form = forms.get(encoding) ?? make(encoding)
    forms.set(encoding, form)
    return form
  }
}
