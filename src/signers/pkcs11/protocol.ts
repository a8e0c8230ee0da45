import type { RemoteFaultKind } from '../remote/remote-key.ts'
import type { Curve } from '../signer.ts'

/** Selects a token by its label or its slot. */
export type TokenSelector = { readonly label: string } | { readonly slot: number }

/** Selects a key pair of a token: by its label, or by its id in hex digits. */
export type KeySelector = { readonly label: string } | { readonly id: string }

/** A key pair of a token, with the PIN of the token's user. */
export interface KeyLocation {
  readonly token: TokenSelector
  readonly pin: string
  readonly key: KeySelector
}

/**
 * A request to the process that has loaded a PKCS#11 library. Without a payload it requests the public key.
 */
export interface ModuleRequest {
  readonly number: number
  readonly location: KeyLocation
  /** A digest of 32 bytes for secp256k1, the message itself for ed25519. */
  readonly payload?: Uint8Array
}

/** The result of a question: the public key as the token writes it, or the signature. */
export interface ModuleResult {
  readonly curve: Curve
  readonly bytes: Uint8Array
}

/** An answer of the process. */
export type ModuleAnswer = { readonly number: number } & (
  | { readonly result: ModuleResult }
  | { readonly fault: ModuleFault }
)

/** A failure, in a form that crosses the border of a process. */
export interface ModuleFault {
  readonly kind: RemoteFaultKind
  readonly message: string
  /** True when the token did not accept the PIN: another attempt could lock the token. */
  readonly isPinRefused: boolean
}

/** Names a token in messages. */
export function describeToken(token: TokenSelector): string {
  return 'label' in token ? `token ${token.label}` : `slot ${token.slot}`
}

/** Names a key in messages. */
export function describeKey(key: KeySelector): string {
  return 'label' in key ? key.label : `with the id ${key.id}`
}
