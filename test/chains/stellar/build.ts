import { createHash } from 'node:crypto'
import type { SigningContext } from '../../../src/chains/chain.ts'
import type { StellarDraft, StellarPolicies, StellarRequest } from '../../../src/chains/stellar/content.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { accountIdOf } from '../../../src/chains/stellar/model/strkey.ts'
import type { StellarSigner } from '../../../src/chains/stellar/sign.ts'
import type { StellarAccount, StellarAttempt } from '../../../src/chains/stellar/types.ts'
import { createEd25519Signer } from '../../../src/signers/ed25519.ts'

/** The passphrase of stellar-core's standalone network. */
export const PASSPHRASE = 'Standalone Network ; February 2017'

export const NETWORK = { name: 'local', passphrase: PASSPHRASE }

/** Keys that are the same in every run. */
export function signerOf(name: string): StellarSigner {
  return createEd25519Signer(name, createHash('sha256').update(name).digest())
}

export function addressOf(name: string): string {
  return accountIdOf(signerOf(name).publicKey)
}

/** The relayer, and a third party. */
export const SELF = addressOf('relayer')
export const OTHER = addressOf('other')

export function accountWith(policies: StellarPolicies = {}): StellarAccount {
  return { address: SELF, policies }
}

export function requestOf(change: Partial<StellarRequest> = {}): StellarRequest {
  return { type: 'stellar', network: NETWORK.name, ...change }
}

export function paymentOf(amount: bigint, destination = OTHER): StellarOperation {
  return { type: 'payment', destination, asset: { type: 'native' }, amount }
}

/** The context for the relayer's own sequence numbers. */
export function signingContextAt(nonce: bigint): SigningContext {
  const account = { address: SELF, signer: signerOf('relayer') }
  return { sourceAccount: account, nonce, account }
}

/** The context for the sequence numbers of a channel account. */
export function channelSigningContextAt(nonce: bigint, name = 'channel'): SigningContext {
  return { ...signingContextAt(nonce), sourceAccount: { address: addressOf(name), signer: signerOf(name) } }
}

/** An attempt that a node took, with bytes that no test looks at. */
export function attemptOf(draft: StellarDraft, change: Partial<StellarAttempt> = {}): StellarAttempt {
  return {
    number: 1,
    kind: 'send',
    sourceAccount: SELF,
    nonce: 5n,
    draft,
    signed: { raw: new Uint8Array([1]), hash: '0'.repeat(64), signature: { r: '', s: '', v: 0, sig: '' } },
    signedAt: new Date(0),
    outcome: 'broadcast',
    ...change,
  }
}

/** The value of an answer that a test knows to be there. */
export function known<T>(answer: { readonly kind: string; readonly value?: T }): T {
  if (answer.kind !== 'ok' || answer.value === undefined) throw new Error(JSON.stringify(answer))
  return answer.value
}
