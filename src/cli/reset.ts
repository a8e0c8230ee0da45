import { CLI_AUTHOR } from '../audit/entry.ts'
import { loadConfig } from '../config/load.ts'
import { wellKnownNetworks } from '../config/networks.ts'
import { migrate } from '../database/migrate.ts'
import { suggest } from '../lib/suggest.ts'
import type { Network } from '../networks/network.ts'
import { networkId } from '../networks/network.ts'
import { resetNetwork } from '../transactions/reset/reset-store.ts'
import { type Arguments, type Command, EXIT, UsageError } from './command.ts'
import { openForCommand } from './open-database.ts'

/** `relayer reset`. */
export const reset: Command = {
  name: 'reset',
  summary: 'Start over on a network whose chain was reset, such as a local node that was started anew.',
  usage: '<network> [--confirm <network>]',
  help: [
    'Ends the open transactions of all relayers on the network as failed, because nothing of the old chain counts any more, and reads',
    'nonces from the new chain. Final transactions keep their records. The service signs again after its next health check.',
    '',
    'The command believes you: it does not ask the chain. If the chain was not reset, a transaction that it ends may still be included.',
    'On a main network it therefore wants the name a second time: --confirm <network>.',
    '',
    'Uses the PostgreSQL server of DATABASE_URL while the service runs, or the embedded database in DATA_DIR while no service runs on it.',
    'While the service runs on the embedded database, use POST /api/v1/networks/<type>:<network>/reset.',
    '',
    'Examples: relayer reset anvil',
    '          relayer reset evm:anvil',
  ],
  options: ['confirm'],
  maxPositionals: 1,
  async run(args, terminal) {
    const config = loadConfig()
    const network = findNetwork([...config.networks, ...wellKnownNetworks()], args)
    const database = await openForCommand(config, 'reset')
    try {
      await migrate(database)
      const { ended, relayerIds } = await resetNetwork(database.db, network, {
        now: new Date(),
        includesOwnEndpoints: true,
        author: CLI_AUTHOR,
      })
      terminal.out(
        `${networkId(network)}: ${ended} open transaction${ended === 1 ? '' : 's'} of ${relayerIds.length} relayer${relayerIds.length === 1 ? '' : 's'} ended as failed; the nonces are read from the new chain`,
      )
      return EXIT.ok
    } finally {
      await database.close()
    }
  },
}

/** @throws UsageError for a name that no network or several networks have, and for a main network without `--confirm` */
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
