import type { Schemas } from '../../contract/operations.ts'
import type { Command } from '../command.ts'
import { type ApiArguments, apiCommand, formatTable, pathOf, queryOf, toJson } from './api-command.ts'

type Relayer = Schemas['Relayer']

const COLUMNS = ['ID', 'NETWORK', 'ADDRESS', 'STATE', 'NAME']

/** `relayer relayers list`. */
export const relayersList: Command = apiCommand({
  name: 'relayers list',
  summary: 'List the relayers of a service.',
  positionals: [],
  usage: '[--page <number>]',
  help: [
    'Shows up to 100 relayers with their accounts, and whether they sign.',
    '',
    'Example: relayer relayers list --json',
  ],
  options: ['page'],
  run: async ({ client, options: { page }, json, terminal }) => {
    const { data } = await client.call<Relayer[]>('GET', `/relayers${queryOf({ per_page: '100', page })}`)
    if (json) terminal.out(toJson(data))
    else for (const line of formatTable(COLUMNS, data.flatMap(rowsOf))) terminal.out(line)
    return undefined
  },
})

/** `relayer relayers pause`. */
export const relayersPause: Command = switchCommand('pause', 'Pause a relayer: it accepts and signs nothing.')

/** `relayer relayers resume`. */
export const relayersResume: Command = switchCommand('resume', 'Resume a paused relayer.')

function switchCommand(action: 'pause' | 'resume', summary: string): Command {
  return apiCommand({
    name: `relayers ${action}`,
    summary,
    positionals: ['relayer id'],
    help: [
      'Signed transactions are still broadcast and watched.',
      '',
      `Example: relayer relayers ${action} local-1`,
    ],
    run: (args) => setPaused(args, action === 'pause'),
  })
}

async function setPaused(
  { client, positionals: [id = ''], json, terminal }: ApiArguments,
  paused: boolean,
): Promise<undefined> {
  const body = JSON.stringify({ paused })
  const { data } = await client.call<Relayer>('PATCH', pathOf('relayers', id), { body })
  terminal.out(json ? toJson(data) : `relayer ${data.id} is ${stateOf(data)}`)
}

/** One row for the relayer, and one for each further account. */
function rowsOf(relayer: Relayer): string[][] {
  const { id, network_type, network, address, name, accounts = [] } = relayer
  return [
    [id, `${network_type}:${network}`, address, stateOf(relayer), name],
    ...accounts.slice(1).map((account) => ['', '', account.address, accountStateOf(account), '']),
  ]
}

function accountStateOf({ state, disabled_reason }: Schemas['RelayerAccount']): string {
  return state === 'disabled' ? `disabled: ${disabled_reason?.type ?? 'unknown'}` : state
}

function stateOf({ paused, system_disabled, disabled_reason }: Relayer): string {
  if (paused) return 'paused'
  return system_disabled ? `disabled: ${disabled_reason?.type ?? 'unknown'}` : 'active'
}
