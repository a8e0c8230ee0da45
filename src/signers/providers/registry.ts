import { awsKms } from '../key-services/aws-kms.ts'
import { azureKeyVault } from '../key-services/azure-key-vault.ts'
import { cdp } from '../key-services/cdp.ts'
import { googleCloudKms } from '../key-services/google-cloud-kms.ts'
import { pkcs11 } from '../key-services/pkcs11.ts'
import { turnkey } from '../key-services/turnkey.ts'
import { vault, vaultTransit } from '../key-services/vault.ts'
import { web3signer } from '../key-services/web3signer.ts'
import type { Curve } from '../signer.ts'
import { local, mnemonic, plain } from './local.ts'
import type { Provider, SignerFields } from './provider.ts'

/**
 * All types of signers. A new type is a file in `key-services/` and a line here; the contract lists it for
 * callers.
 */
const PROVIDERS = {
  local,
  plain,
  mnemonic,
  aws_kms: awsKms,
  google_cloud_kms: googleCloudKms,
  azure_key_vault: azureKeyVault,
  turnkey,
  cdp,
  vault,
  vault_transit: vaultTransit,
  pkcs11,
  web3signer,
} as const

/** A type of signer, as configuration files write it. */
export type SignerType = keyof typeof PROVIDERS

type ConfigOf<P> = P extends Provider<infer C> ? C : never

type Configs = { readonly [T in SignerType]: ConfigOf<(typeof PROVIDERS)[T]> }

/** The configuration of a signer of one type, or of any. */
export type SignerConfig<T extends SignerType = SignerType> = {
  [K in T]: { readonly id: string; readonly type: K } & Configs[K]
}[T]

/** The names of all types. */
export const SIGNER_TYPES = Object.keys(PROVIDERS) as readonly SignerType[]

/** Returns true for a type that this release has. */
export function isSignerType(type: string): type is SignerType {
  return Object.hasOwn(PROVIDERS, type)
}

/** Returns the provider of a configuration. TypeScript cannot follow that the table pairs the two. */
export function providerOf({ type }: SignerConfig): Provider<SignerConfig> {
  return PROVIDERS[type] as unknown as Provider<SignerConfig>
}

/** Reads the fields of one type. */
export function readSignerConfig(
  { id, type }: { readonly id: string; readonly type: SignerType },
  fields: SignerFields,
): SignerConfig {
  return { id, type, ...PROVIDERS[type].read(fields) } as SignerConfig
}

/** Returns the types whose keys can have this curve and sign for this network type. */
export function typesFor(curve: Curve, networkType: string): SignerType[] {
  return SIGNER_TYPES.filter((type) => {
    const provider: Pick<Provider<unknown>, 'curves' | 'notFor'> = PROVIDERS[type]
    return provider.curves.includes(curve) && !provider.notFor?.some((own) => own === networkType)
  })
}

/** The public part of a signer's configuration. */
export interface SignerDescription {
  readonly id: string
  readonly type: string
  /** By wire names; absent if there is nothing to show. */
  readonly config?: object
}

/** Describes a signer. Existing records of signers without anything to show stay equal. */
export function describeSigner(config: SignerConfig): SignerDescription {
  const { id, type } = config
  const shown = providerOf(config).show(config)
  return Object.keys(shown).length === 0 ? { id, type } : { id, type, config: shown }
}
