import type { Schemas } from '../../contract/operations.ts'
import type { Command } from '../command.ts'
import { apiCommand, formatRecord, formatTable, queryOf, toJson } from './api-command.ts'

type Signer = Schemas['Signer']

/** `relayer signers list`. */
export const signersList: Command = apiCommand({
  name: 'signers list',
  summary: 'List the signers of a service.',
  positionals: [],
  usage: '[--page <number>]',
  help: ['Shows up to 100 signers. No key is ever shown.', '', 'Example: relayer signers list --json'],
  options: ['page'],
  run: async ({ client, options: { page }, json, terminal }) => {
    const { data } = await client.call<Signer[]>('GET', `/signers${queryOf({ per_page: '100', page })}`)
    if (json) terminal.out(toJson(data))
    else
      for (const line of formatTable(
        ['ID', 'TYPE'],
        data.map(({ id, type }) => [id, type]),
      ))
        terminal.out(line)
    return undefined
  },
})

/** `relayer signers create`. */
export const signersCreate: Command = apiCommand({
  name: 'signers create',
  summary: 'Let a service create a key that no one has seen.',
  positionals: ['signer id'],
  help: [
    'Prints the addresses of the key on each network type. Nothing exports the key: its only copy is in the database of the service,',
    'sealed with STORAGE_ENCRYPTION_KEY.',
    '',
    'Example: relayer signers create payouts',
  ],
  run: async ({ client, positionals: [id = ''], json, terminal }) => {
    const body = JSON.stringify({ id, type: 'generated' })
    const { data } = await client.call<Extract<Signer, { type: 'generated' }>>('POST', '/signers', { body })
    if (json) terminal.out(toJson(data))
    else for (const line of formatRecord({ signer: data.id, ...data.config.addresses })) terminal.out(line)
    return undefined
  },
})
