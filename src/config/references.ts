import { chainName } from '../networks/chain-name.ts'
import { suggest } from './fields/suggest.ts'
import { pricingProblem } from './pricing.ts'
import type { Config, RelayerConfig } from './types.ts'

type Lists = Pick<Config, 'relayers' | 'signers' | 'notifications' | 'networks'>

/** What is wrong between the lists: ids given twice, names that lead nowhere, accounts that would be worked twice. */
export function checkReferences(lists: Lists): string[] {
  const names = {
    relayer: lists.relayers.map(({ id }) => id),
    signer: lists.signers.map(({ id }) => id),
    notification: lists.notifications.map(({ id }) => id),
    network: lists.networks.map(networkKey),
  }
  const duplicates = Object.entries(names).flatMap(([kind, list]) =>
    repeated(list).map((name) => `${kind} "${name.split(':').at(-1)}" is defined more than once`),
  )
  const dangling = lists.relayers.flatMap((relayer) => [
    ...missing(relayer, 'network', relayer.network, networksOf(lists, relayer)),
    ...missing(relayer, 'signer', relayer.signerId, names.signer),
    ...missing(relayer, 'notification', relayer.notificationId, names.notification),
    ...channelSigners(relayer).flatMap((signerId) => missing(relayer, 'signer', signerId, names.signer)),
  ])
  return [...duplicates, ...dangling, ...sharedAccounts(lists), ...impossiblePricing(lists)]
}

/** Names are unique within their type. */
function networkKey({ type, name }: Lists['networks'][number]): string {
  return name && `${type}:${name}`
}

function networksOf({ networks }: Lists, { networkType }: RelayerConfig): string[] {
  return networks.filter(({ type }) => type === networkType).map(({ name }) => name)
}

function channelSigners(relayer: RelayerConfig): readonly string[] {
  return relayer.networkType === 'stellar' && typeof relayer.channels === 'object' ? relayer.channels : []
}

function missing(relayer: RelayerConfig, kind: string, name: string | undefined, known: string[]): string[] {
  if (!name || known.includes(name)) return []
  return [
    `relayer "${relayer.id}" refers to the ${kind} "${name}", which does not exist${suggest(name, known)}`,
  ]
}

/** Two relayers that number the same account would take each other's nonces. */
function sharedAccounts({ relayers, networks }: Lists): string[] {
  const owners = new Map<string, string>()
  return relayers.flatMap((relayer) => {
    const chain = chainOf(relayer, networks)
    if (chain === undefined) return []
    const signers = [relayer.signerId, ...channelSigners(relayer)].filter((signerId) => signerId !== '')
    const shared = [...new Set(signers)].flatMap((signerId) => {
      const account = `${signerId} ${chain}`
      const owner = owners.get(account) ?? relayer.id
      owners.set(account, owner)
      if (owner === relayer.id) return []
      return [
        `relayers "${owner}" and "${relayer.id}" are the same account: signer "${signerId}" on ${chain}`,
      ]
    })
    const duplicates = repeated(signers).map(
      (signerId) => `relayer "${relayer.id}" names the signer "${signerId}" more than once`,
    )
    return [...duplicates, ...shared]
  })
}

function chainOf(relayer: RelayerConfig, networks: Lists['networks']): string | undefined {
  const network = networks.find(({ type, name }) => type === relayer.networkType && name === relayer.network)
  if (network === undefined) return undefined
  return chainName(network)
}

function impossiblePricing({ relayers, networks }: Lists): string[] {
  return relayers.flatMap((relayer) => {
    const found = networks.find(({ type, name }) => type === 'evm' && name === relayer.network)
    return pricingProblem(relayer, found) ?? []
  })
}

function repeated(list: readonly string[]): string[] {
  return [...new Set(list.filter((name, index) => name !== '' && list.indexOf(name) !== index))]
}
