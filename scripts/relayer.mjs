// `npm start` and `npm run relayer`: the program of `dist`, which starts in half of the time, if it was built from the present sources, and
// the sources otherwise. This file is JavaScript, because Node.js would load its compiler of TypeScript for a single file of it.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { currentProgram } from './prepare/current-program.mjs'

const root = join(import.meta.dirname, '..')
await import(pathToFileURL(currentProgram(root) ?? join(root, 'src/main.ts')).href)
