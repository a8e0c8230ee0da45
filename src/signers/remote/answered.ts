import type { PostAnswer } from '../../lib/http/http-client.ts'
import { ForbiddenAddressError } from '../../security/guarded-lookup.ts'
import { RemoteFault } from './remote-key.ts'

/** Translates the failures of a connection. */
export async function answered(answer: Promise<PostAnswer>): Promise<PostAnswer> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof RemoteFault) throw cause
    if (cause instanceof ForbiddenAddressError)
      throw new RemoteFault(
        'refused',
        'is at a private address, which a signer of the API must not name: put it into the configuration file, or set RELAYER_ALLOW_PRIVATE_URLS',
        { cause },
      )
    throw new RemoteFault('unavailable', 'cannot be reached', { cause })
  }
}
