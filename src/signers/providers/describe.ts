import { providerOf, type SignerConfig } from './registry.ts'

/** The part of a signer's configuration that everybody may see. */
export interface SignerDescription {
  readonly id: string
  readonly type: string
  /** By wire names; absent where there is nothing to show. */
  readonly config?: object
}

/** Describes a signer. Existing records of signers without anything to show stay equal. */
export function describeSigner(config: SignerConfig): SignerDescription {
  const { id, type } = config
  const shown = providerOf(config).show(config)
  return Object.keys(shown).length === 0 ? { id, type } : { id, type, config: shown }
}
