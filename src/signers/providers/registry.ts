import type { Curve } from '../signer.ts'
import { awsKms } from './aws-kms.ts'
import { azureKeyVault } from './cloud/azure-key-vault.ts'
import { cdp } from './cloud/cdp.ts'
import { googleCloudKms } from './cloud/google-cloud-kms.ts'
import { turnkey } from './cloud/turnkey.ts'
import { local } from './local.ts'
import { mnemonic } from './mnemonic.ts'
import { pkcs11 } from './pkcs11.ts'
import { plain } from './plain.ts'
import type { Provider, SignerFields } from './provider.ts'
import { vault } from './vault/vault.ts'
import { vaultTransit } from './vault/vault-transit.ts'
import { web3signer } from './web3signer.ts'

/** All types of signers. A new type is a file beside or below this one and a line here; the contract lists it for callers. */
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
