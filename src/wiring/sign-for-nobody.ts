import { randomBytes } from 'node:crypto'
import type { SignedDraft } from '../chains/attempt.ts'
import type { EvmDraft } from '../chains/evm/content.ts'
import { signDraft } from '../chains/evm/sign.ts'
import { createKey } from '../signers/key.ts'

/** Signs a draft with a key that nobody keeps, as a rehearsal needs it. */
export function signForNobody(draft: EvmDraft): Promise<SignedDraft> {
  const { evm } = createKey('nobody', randomBytes(32))
  return signDraft({ draft, nonce: 0n, chainId: 1 }, evm)
}
