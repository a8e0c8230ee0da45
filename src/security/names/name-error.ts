/**
 * A host name has no address. The codes are those of `dns.lookup`: `ENOTFOUND` when the name servers say so, `EAI_AGAIN` when they do not
 * answer or fail.
 */
export class NameError extends Error {
  override readonly name = 'NameError'
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN'
  readonly hostname: string

  constructor(hostname: string, code: NameError['code']) {
    const problem = code === 'ENOTFOUND' ? 'the name has no address' : 'the name servers do not answer'
    super(`${code} ${hostname}: ${problem}`)
    this.code = code
    this.hostname = hostname
  }
}
