import type { Chain } from '../chains/chain.ts'
import type { Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { omitUndefined } from '../lib/object.ts'
import {
  type ContractInterface,
  findInterface,
  type InterfaceKey,
  type InterfaceSummary,
  listInterfaces,
} from '../relayers/interfaces/interfaces-store.ts'
import { noInterface } from '../relayers/interfaces/manager.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { readAddress } from './codecs/address.ts'
import { toPage } from './present/shared.ts'
import type { RelayerParts, Service } from './service.ts'
import { requireRelayer } from './transactions/transactions.ts'

type Operations = 'listAbis' | 'getAbi' | 'registerAbi' | 'deleteAbi'

/** The operations on the ABIs of contracts. */
export function abiHandlers(service: Service): Pick<HandlerMap, Operations> {
  const { db, interfaces } = service
  return {
    listAbis: async ({ path, query }) => {
      const { relayer } = await requireContracts(service, path.relayer_id)
      const page = toPage(query)
      const { items, total } = await listInterfaces(db, { relayerId: relayer.id, ...page })
      return { data: items.map(presentAbiSummary), pagination: page.describe(total) }
    },
    getAbi: async ({ path }) => {
      const key = await keyOf(service, path)
      const registered = await findInterface(db, key)
      if (registered === undefined) throw noInterface(key)
      return { data: presentAbi(registered) }
    },
    registerAbi: async ({ path, body }, { actor }) => {
      const { relayer, chain, contractCalls } = await requireContracts(service, path.relayer_id)
      const reading = contractCalls.readAbi(body.abi)
      if (reading.kind === 'refused')
        throw new AppError(reading.refusal.code, `body.${reading.refusal.detail}`)
      const key = { relayerId: relayer.id, address: readAddress(chain, path.address, 'path.address') }
      return {
        data: presentAbi(await interfaces.register(key, { ...reading.value, name: body.name }, actor)),
      }
    },
    deleteAbi: async ({ path }, { actor }) => {
      await interfaces.delete(await keyOf(service, path), actor)
      return { data: 'ABI deleted successfully' }
    },
  }
}

async function keyOf(
  service: Service,
  path: { readonly relayer_id: string; readonly address: string },
): Promise<InterfaceKey> {
  const { relayer, chain } = await requireContracts(service, path.relayer_id)
  return { relayerId: relayer.id, address: readAddress(chain, path.address, 'path.address') }
}

interface WithContracts {
  readonly relayer: Relayer
  readonly chain: Chain
  readonly contractCalls: NonNullable<Chain['contractCalls']>
}

/** @throws AppError 404 `relayer_not_found`, or `not_supported` on a network whose contracts have no ABI */
async function requireContracts(
  { relayerOf, runtimeOf }: RelayerParts,
  relayerId: string,
): Promise<WithContracts> {
  const relayer = await requireRelayer(relayerOf, relayerId)
  const { chain } = runtimeOf(relayer)
  if (chain.contractCalls !== undefined) return { relayer, chain, contractCalls: chain.contractCalls }
  throw new AppError(
    'not_supported',
    `Relayer ${relayer.id} is on a network of type ${relayer.networkType}; only contracts on evm have an ABI.`,
  )
}

/** Converts a registered ABI to the form of the contract in lists. */
function presentAbiSummary(summary: InterfaceSummary): Schemas['AbiSummary'] {
  return omitUndefined({
    address: summary.address,
    name: summary.name,
    function_count: summary.functionCount,
    created_at: summary.createdAt.toISOString(),
    updated_at: summary.updatedAt.toISOString(),
  })
}

/** The same with the ABI itself. */
function presentAbi(registered: ContractInterface): Schemas['ContractAbi'] {
  return { ...presentAbiSummary(registered), abi: registered.document.map((item) => ({ ...item })) }
}
