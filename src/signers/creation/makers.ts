import type { SignerFields } from '../providers/provider.ts'
import type { Curve } from '../signer.ts'
import { awsKeyMaker } from './aws-kms.ts'
import { azureKeyMaker } from './azure-key-vault.ts'
import { googleKeyMaker } from './google-cloud-kms.ts'
import type { CreationAnswer, KeyFields, KeyMaker, MakerContext, WantedKey } from './key-maker.ts'
import { turnkeyKeyMaker } from './turnkey.ts'
import { transitKeyMaker } from './vault-transit.ts'

/** The key services that create keys, by the type of the signer. */
const MAKERS = {
  aws_kms: awsKeyMaker,
  google_cloud_kms: googleKeyMaker,
  azure_key_vault: azureKeyMaker,
  vault_transit: transitKeyMaker,
  turnkey: turnkeyKeyMaker,
} as const

/** A type of signer whose key service can create keys. */
export type CreatingType = keyof typeof MAKERS

/** A maker at one place. */
export interface Maker {
  /** The fields of the request that the configuration of the signer does not have. */
  readonly ownFields: ReadonlySet<string>
  find(key: WantedKey, context: MakerContext): Promise<KeyFields | undefined>
  create(key: WantedKey, context: MakerContext): Promise<CreationAnswer>
}

/** The networks that use a curve, for sentences. */
const NETWORKS: Readonly<Record<Curve, string>> = {
  secp256k1: 'EVM needs',
  ed25519: 'Stellar and Solana need',
}

/** Says how people keep and delete the keys of a type. */
export function adviceOf(type: CreatingType): string {
  return MAKERS[type].advice
}

/** Opens the maker of a type at the place of a request; a sentence if it has no such keys. */
export function makerOf(type: CreatingType, curve: Curve, fields: SignerFields) {
  return open(type, MAKERS[type] as unknown as KeyMaker<unknown>, { curve, fields })
}

function open<T>(
  type: CreatingType,
  maker: KeyMaker<T>,
  { curve, fields }: { readonly curve: Curve; readonly fields: SignerFields },
) {
  const target = maker.read(fields)
  if (!maker.curves.includes(curve))
    return `keys of the type ${type} are of ${maker.curves.join(' or ')}, not of ${curve}, which ${NETWORKS[curve]}. ${others(curve)}`
  const own: Maker = {
    ownFields: new Set(maker.ownFields),
    find: (key, context) => maker.find(target, key, context),
    create: (key, context) => maker.create(target, key, context),
  }
  return { maker: own, shown: maker.show(target), name: maker.nameOf(target) }
}

function others(curve: Curve): string {
  const fitting = Object.entries(MAKERS).filter(([, { curves }]) => curves.some((own) => own === curve))
  return `These types have them: ${fitting.map(([type]) => type).join(', ')}, and generated, whose key this service creates itself.`
}
