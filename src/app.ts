import { app } from '@azure/functions';

// Without it the library collects each response whole before the first byte leaves the worker.
app.setup({ enableHttpStream: true });
