import { createHash } from 'node:crypto'
import { privateKeyToAddress } from 'viem/accounts'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Anvil } from '../../support/anvil.ts'
import {
  type Answer,
  DEV_KEYS,
  plainSigner,
  type Service,
  type ServiceOptions,
} from '../../support/service.ts'

export type Relayer = Schemas['Relayer']

/** A key for tests, the same for the same name. */
export function keyOf(name: string): string {
  return createHash('sha256').update(`relayer ${name}`).digest('hex')
}

/** The standard signers, and one more of each name that no relayer of the file uses. */
export function signersWith(...names: string[]): Pick<ServiceOptions, 'signers' | 'env'> {
  return {
    signers: [
      ...DEV_KEYS.map((key, index) => plainSigner(`dev-${index}`, key)),
      ...names.map((name) => plainSigner(name, keyOf(name))),
    ],
    env: {
      RELAYER_ALLOW_PRIVATE_URLS: 'true',
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64'),
    },
  }
}

/** A relayer on anvil, as the body that creates it. */
export function onAnvil(signer: string, more: object = {}) {
  return { name: 'New', network: 'anvil', network_type: 'evm', signer_id: signer, ...more }
}

export function create(service: Service, body: object | string): Promise<Answer<Relayer>> {
  return service.api<Relayer>('POST', '/relayers', body)
}

/** Gives the account of such a signer a hundred ether. */
async function fund(anvil: Anvil, signer: string): Promise<void> {
  const address = privateKeyToAddress(`0x${keyOf(signer)}`)
  await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 20n).toString(16)}`])
}

/** Creates a relayer whose account has a hundred ether, and expects 201. */
export async function createFunded(
  service: Service,
  anvil: Anvil,
  body: ReturnType<typeof onAnvil>,
): Promise<Relayer> {
  await fund(anvil, body.signer_id)
  const { status, body: answer } = await create(service, body)
  if (status !== 201) throw new Error(`it was not created: ${answer.error}`)
  return answer.data
}

/** What a refusal says. */
export function refusalOf({ status, body }: Answer): object {
  return { status, code: body.code, error: body.error }
}
