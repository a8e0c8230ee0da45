import { suggest } from '../lib/suggest.ts'
import { CATALOGUE, suggestNetwork } from '../networks/catalogue/catalogue.ts'
import { chainName, type Network } from '../networks/network.ts'
import { duplicateAccounts } from '../relayers/accounts/accounts.ts'
import { limitProblem, pricingProblem, privacyProblem } from '../relayers/policies/policy.ts'
import { type RelayerConfig, signersOf } from '../relayers/relayer.ts'
import { topUpProblems } from '../relayers/top-up.ts'
import type { Config } from './types.ts'

type Lists = Pick<Config, 'relayers' | 'signers' | 'notifications' | 'networks'>

/**
 * Checks the lists against each other: ids must be unique, names must lead somewhere, and no two relayers may
 * share an account.
 */
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
  const named = lists.notifications.flatMap(({ transactions: of }) =>
    of ? `"${of.reference}" of "${of.requestedBy}"` : [],
  )
  const shared = repeated(named).map((name) => `more than one notification is for the reference ${name}`)
  const dangling = lists.relayers.flatMap((relayer) => [
    ...missingNetwork(relayer, networksOf(lists, relayer)),
    ...signersOf(relayer).flatMap((signerId) => missing(relayer, 'signer', signerId, names.signer)),
    ...missing(relayer, 'notification', relayer.notificationId, names.notification),
    ...notAWebhook(relayer, lists),
  ])
  return [
    ...duplicates,
    ...shared,
    ...dangling,
    ...lists.relayers.flatMap(limitElsewhere),
    ...sharedAccounts(lists),
    ...impossiblePolicies(lists),
    ...topUpProblems(lists.relayers),
  ]
}

/** Names are unique within their type. */
function networkKey({ type, name }: Network): string {
  return name && `${type}:${name}`
}

function limitElsewhere(relayer: RelayerConfig): string[] {
  const problem = limitProblem(relayer)
  return problem === undefined ? [] : [`relayer "${relayer.id}", policies.rules: ${problem}`]
}

function networksOf({ networks }: Lists, { networkType }: RelayerConfig): string[] {
  return networks.filter(({ type }) => type === networkType).map(({ name }) => name)
}

function missingNetwork(
  { id, networkType, network: name }: RelayerConfig,
  known: readonly string[],
): string[] {
  if (!name || known.includes(name)) return []
  const wellKnown = CATALOGUE.filter(({ type }) => type === networkType).map(({ network }) => network)
  const all = [...new Set([...known, ...wellKnown])]
  const suggestion = suggestNetwork({ name, type: networkType, known: all })
  return [`relayer "${id}" refers to the ${networkType} network "${name}", which does not exist${suggestion}`]
}

function missing(relayer: RelayerConfig, kind: string, name: string | undefined, known: string[]): string[] {
  if (!name || known.includes(name)) return []
  return [
    `relayer "${relayer.id}" refers to the ${kind} "${name}", which does not exist${suggest(name, known)}`,
  ]
}

function notAWebhook({ id, notificationId }: RelayerConfig, { notifications }: Lists): string[] {
  const type = notifications.find((one) => one.id === notificationId)?.type ?? 'webhook'
  if (type === 'webhook') return []
  return [
    `relayer "${id}" refers to the notification "${notificationId}" of type ${type}, which gets the alerts of every relayer without being named; expected one of type webhook`,
  ]
}

/**
 * No key is open yet, so the signer represents its account here. `configuredAccounts` compares the addresses
 * later.
 */
function sharedAccounts(lists: Lists): string[] {
  const accounts = uniqueById(lists.relayers).flatMap((relayer) => {
    const network = networkOf(lists, relayer)
    if (network === undefined) return []
    const signers = [...new Set(signersOf(relayer))].filter((signerId) => signerId !== '')
    const addresses = signers.map((signerId) => `signer "${signerId}"`)
    return [{ id: relayer.id, chain: chainName(network), addresses }]
  })
  return [...lists.relayers.flatMap(repeatedSigners), ...duplicateAccounts(accounts)]
}

function repeatedSigners(relayer: RelayerConfig): string[] {
  return repeated(signersOf(relayer)).map(
    (signerId) => `relayer "${relayer.id}" names the signer "${signerId}" more than once`,
  )
}

/** A relayer that is defined twice is a separate problem. */
function uniqueById(relayers: readonly RelayerConfig[]): RelayerConfig[] {
  return [...new Map(relayers.map((relayer) => [relayer.id, relayer])).values()]
}

function networkOf({ networks }: Lists, relayer: RelayerConfig): Network | undefined {
  return networks.find(({ type, name }) => type === relayer.networkType && name === relayer.network)
}

function impossiblePolicies(lists: Lists): string[] {
  return lists.relayers.flatMap((relayer) => {
    const network = networkOf(lists, relayer)
    return [pricingProblem(relayer, network) ?? [], privacyProblem(relayer, network) ?? []].flat()
  })
}

function repeated(list: readonly string[]): string[] {
  return [...new Set(list.filter((name, index) => name !== '' && list.indexOf(name) !== index))]
}
