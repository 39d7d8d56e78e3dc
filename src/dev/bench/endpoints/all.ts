import { app } from '@azure/functions';
import './empty.js';
import './mssql.js';
import './ours.js';
import './tedious.js';

app.setup({ enableHttpStream: true });
