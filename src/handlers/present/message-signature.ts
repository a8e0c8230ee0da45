import type { MessageSignature } from '../../chains/attempt.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'

/** Presents a signature that goes to the caller by itself. */
export function presentMessageSignature({ publicKey, ...signature }: MessageSignature): Schemas['Signature'] {
  return omitUndefined({ ...signature, public_key: publicKey })
}
