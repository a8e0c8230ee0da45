import { expect, onTestFinished, test } from 'vitest'
import { routeWarnings } from '../../src/cli/serve.ts'

/** Warnings are told in the next turn of the event loop. */
const warn = async (text: string) => {
  process.emitWarning(text, 'MetadataLookupWarning')
  await new Promise(setImmediate)
}

test('a warning of a library goes where it is routed, and nowhere else', async () => {
  const printed: string[] = []
  const printer = ({ message }: Error) => void printed.push(message)
  process.on('warning', printer)
  onTestFinished(() => void process.off('warning', printer))
  const told: string[] = []
  const end = routeWarnings(({ name, message }) => told.push(`${name}: ${message}`))
  await warn('first')
  end()
  expect({ told, printed }).toEqual({ told: ['MetadataLookupWarning: first'], printed: [] })
  await warn('second')
  expect({ told: told.length, printed }).toEqual({ told: 1, printed: ['second'] })
})

test('warnings that are switched off stay off', async () => {
  const printers = process.listeners('warning')
  process.removeAllListeners('warning')
  onTestFinished(() => {
    for (const printer of printers) process.on('warning', printer)
  })
  const told: string[] = []
  const end = routeWarnings(({ message }) => told.push(message))
  await warn('silent')
  end()
  expect(told).toEqual([])
})
