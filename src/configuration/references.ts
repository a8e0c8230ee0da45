import { suggest } from './suggest.ts'
import type { Config, RelayerConfig } from './types.ts'

type Lists = Pick<Config, 'relayers' | 'signers' | 'notifications' | 'networks'>

/** What is wrong between the lists: ids given twice, names that lead nowhere, accounts that would be worked twice. */
export function checkReferences(lists: Lists): string[] {
  const names = {
    relayer: lists.relayers.map(({ id }) => id),
    signer: lists.signers.map(({ id }) => id),
    notification: lists.notifications.map(({ id }) => id),
    network: lists.networks.map(({ name }) => name),
  }
  const doubles = Object.entries(names).flatMap(([kind, list]) =>
    repeated(list).map((name) => `${kind} "${name}" is defined more than once`),
  )
  const dangling = lists.relayers.flatMap((relayer) => [
    ...missing(relayer, 'network', relayer.network, names.network),
    ...missing(relayer, 'signer', relayer.signerId, names.signer),
    ...missing(relayer, 'notification', relayer.notificationId, names.notification),
  ])
  return [...doubles, ...dangling, ...sharedAccounts(lists), ...impossiblePricing(lists)]
}

function missing(relayer: RelayerConfig, kind: string, name: string | undefined, known: string[]): string[] {
  if (!name || known.includes(name)) return []
  return [
    `relayer "${relayer.id}" refers to the ${kind} "${name}", which does not exist${suggest(name, known)}`,
  ]
}

/** Two relayers that number the same account would take each other's nonces. */
function sharedAccounts({ relayers, networks }: Lists): string[] {
  const chainIds = new Map(networks.map(({ name, chainId }) => [name, chainId]))
  const owners = new Map<string, string>()
  return relayers.flatMap(({ id, network, signerId }) => {
    const chainId = chainIds.get(network)
    if (chainId === undefined || signerId === '') return []
    const account = `${signerId} ${chainId}`
    const owner = owners.get(account)
    if (owner === undefined) owners.set(account, id)
    if (owner === undefined || owner === id) return []
    return [
      `relayers "${owner}" and "${id}" are the same account: signer "${signerId}" on chain id ${chainId}`,
    ]
  })
}

function impossiblePricing({ relayers, networks }: Lists): string[] {
  return relayers.flatMap(({ id, network, policies }) => {
    const found = networks.find(({ name }) => name === network)
    if (!policies.eip1559Pricing || !found || found.features.includes('eip1559')) return []
    return [
      `relayer "${id}" wants eip1559_pricing, but network "${network}" does not have the feature "eip1559"`,
    ]
  })
}

function repeated(list: readonly string[]): string[] {
  return [...new Set(list.filter((name, index) => name !== '' && list.indexOf(name) !== index))]
}
