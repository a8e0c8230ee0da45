import { CLI_AUTHOR } from '../audit/entry.ts'
import { loadConfig } from '../config/load.ts'
import { wellKnownNetworks } from '../config/networks.ts'
import type { Config } from '../config/types.ts'
import type { Schemas } from '../contract/operations.ts'
import { migrate } from '../database/migrate.ts'
import { suggest } from '../lib/suggest.ts'
import { type Network, networkId } from '../networks/network.ts'
import { resetNetwork } from '../transactions/store/reset-store.ts'
import { ApiFailure, createApiClient, pathOf } from './api/api-command.ts'
import { type Arguments, type Command, EXIT, UsageError } from './command.ts'
import { openUnlessServed } from './open-database.ts'

/** `relayer reset`. */
export const reset: Command = {
  name: 'reset',
  summary: 'Start over on a network whose chain was reset, such as a restarted local node.',
  usage: '<network> [--confirm <network>]',
  help: [
    'Ends the open transactions of all relayers on the network as failed, because the old chain no longer exists, and reads',
    'nonces from the new chain. Final transactions keep their records. The service signs again after its next health check.',
    '',
    'On the database the command believes you: it does not ask the chain. If the chain was not reset, a transaction that it ends may still be included.',
    'On a main network it therefore wants the name a second time: --confirm <network>.',
    '',
    'Uses the PostgreSQL server of DATABASE_URL, or the embedded database in DATA_DIR. While a service has the embedded database open, the',
    'command uses the service at RELAYER_URL with the API key RELAYER_API_KEY (networks:admin), or else the one of the configuration in this',
    'folder. The service requires proof that the chain was reset, and refuses main networks: stop it to skip the proof.',
    '',
    'Examples: relayer reset anvil',
    '          relayer reset evm:anvil',
  ],
  options: ['confirm'],
  maxPositionals: 1,
  async run(args, terminal) {
    const config = loadConfig()
    const network = findNetwork([...config.networks, ...wellKnownNetworks()], args)
    const { ended, relayers } = await startOver(config, network)
    terminal.out(
      `${networkId(network)}: ${ended} open transaction${ended === 1 ? '' : 's'} of ${relayers} relayer${relayers === 1 ? '' : 's'} ended as failed; the nonces are read from the new chain`,
    )
    return EXIT.ok
  },
}

async function startOver(
  config: Config,
  network: Network,
): Promise<{ readonly ended: number; readonly relayers: number }> {
  const database = await openUnlessServed(config)
  if (database === undefined) {
    const { ended_transactions: ended, relayer_ids: ids } = await askService(network)
    return { ended, relayers: ids.length }
  }
  try {
    await migrate(database)
    const { ended, relayerIds } = await resetNetwork(database.db, network, {
      now: new Date(),
      includesOwnEndpoints: true,
      author: CLI_AUTHOR,
    })
    return { ended, relayers: relayerIds.length }
  } finally {
    await database.close()
  }
}

async function askService(network: Network): Promise<Schemas['NetworkReset']> {
  const path = `${pathOf('networks', networkId(network))}/reset`
  try {
    return (await createApiClient().call<Schemas['NetworkReset']>('POST', path)).data
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== 'chain_not_reset') throw error
    const hint = 'Stop the service and repeat the command: on the database, it believes you.'
    throw new ApiFailure(`${error.message}\n${hint}`, error.code)
  }
}

/**
 * @throws UsageError for a name that no network or several networks have, and for a main network without
 * `--confirm`
 */
function findNetwork(
  all: readonly Network[],
  { positionals: [name], options }: Pick<Arguments, 'positionals' | 'options'>,
): Network {
  if (name === undefined) throw new UsageError('Name the network: relayer reset <network>')
  const matching = all.filter((network) => network.name === name || networkId(network) === name)
  const ids = new Set(matching.map(networkId))
  const [network] = matching
  if (network === undefined) {
    const names = all.flatMap((one) => [one.name, networkId(one)])
    throw new UsageError(`There is no network ${name}${suggest(name, names)}.`)
  }
  if (ids.size > 1)
    throw new UsageError(`Several networks are named ${name}; name one of ${[...ids].join(', ')}.`)
  if (!network.isTestnet && options.confirm !== name)
    throw new UsageError(
      `${name} is a main network. If its chain really was reset: relayer reset ${name} --confirm ${name}`,
    )
  return network
}
