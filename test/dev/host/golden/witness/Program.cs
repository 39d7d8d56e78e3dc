// Writes ../data-table.json: what the SQL extension makes of rows. It fills a DataTable by a data adapter from a reader
// that gives the CLR types of Microsoft.Data.SqlClient, and serializes it with the extension's settings. Run by hand,
// with the .NET SDK: dotnet run --project test/dev/host/golden/witness
using System.Collections;
using System.Data;
using System.Data.Common;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

var settings = new JsonSerializerSettings { DateFormatString = "yyyy-MM-ddTHH:mm:ss.fffZ" };
var cases = new (string Name, string[] Names, object?[][] Rows)[]
{
    ("bit", ["v"], [[true], [false], [null]]),
    ("tinyint", ["v"], [[(byte)0], [(byte)255]]),
    ("smallint", ["v"], [[short.MinValue], [short.MaxValue]]),
    ("int", ["v"], [[int.MinValue], [int.MaxValue]]),
    ("bigint", ["v"], [[1L], [9007199254740993L], [long.MinValue], [long.MaxValue]]),
    ("decimal(10,2)", ["v"], [[12.50m], [0.00m], [-99999999.99m]]),
    ("decimal(28,10)", ["v"], [[123456789012345678.0123456789m], [0.0000000001m]]),
    ("money", ["v"], [[922337203685477.5807m], [-0.0001m], [333.3400m]]),
    ("smallmoney", ["v"], [[214748.3647m]]),
    ("float", ["v"], [[0.1], [1e300], [5e-324], [-0.0], [100.0]]),
    ("real", ["v"], [[0.1f], [3.4028235E+38f], [16777216f], [1.5f]]),
    ("nvarchar", ["v"], [["Grüße, 😀 \u2028\u0085 \"\\/\t\u0001"], [""], ["2020-10-06T07:45:16.081+02:00"], ["89e7073266"]]),
    ("varbinary", ["v"], [[new byte[] { 0, 255, 1 }], [Array.Empty<byte>()]]),
    ("uniqueidentifier", ["v"], [[Guid.Parse("6F9619FF-8B86-D011-B42D-00C04FC964FF")]]),
    ("date", ["v"], [[new DateTime(1, 1, 1)], [new DateTime(2026, 11, 30)], [new DateTime(9999, 12, 31)]]),
    ("datetime", ["v"], [[new DateTime(2026, 11, 30, 10, 20, 30).AddMilliseconds(997)], [new DateTime(1753, 1, 1)]]),
    ("smalldatetime", ["v"], [[new DateTime(2026, 11, 30, 10, 21, 0)]]),
    ("datetime2(7)", ["v"], [[new DateTime(639_000_000_001_234_567L)], [DateTime.MaxValue]]),
    ("datetimeoffset(7)", ["v"], [[new DateTimeOffset(2026, 11, 30, 10, 20, 30, TimeSpan.Zero)], [new DateTimeOffset(2026, 11, 30, 10, 20, 30, TimeSpan.FromHours(7))]]),
    ("time(7)", ["v"], [[new TimeSpan(10, 20, 30)], [new TimeSpan(1)], [new TimeSpan(863_999_999_999L)], [TimeSpan.Zero]]),
    ("names", ["", "a", "A", "a1", "a", "", "Column1", "__proto__", "constructor"], [[1, 2, 3, 4, 5, 6, 7, 8, 9]]),
    ("no rows", ["v"], []),
    ("several rows and columns", ["a", "b"], [[1, "x"], [2, null], [3, ""]]),
};

var result = new JObject();
foreach (var (name, names, rows) in cases)
{
    var table = new DataTable();
    new Adapter().FillFrom(table, new Rows(names, rows));
    result[name] = JsonConvert.SerializeObject(table, settings);
}
var folder = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../../.."));
File.WriteAllText(Path.Combine(folder, "data-table.json"), result.ToString(Formatting.Indented) + "\n");

class Adapter : DbDataAdapter
{
    public void FillFrom(DataTable table, IDataReader reader) => Fill(table, reader);
}

class Rows(string[] names, object?[][] rows) : DbDataReader
{
    int at = -1;
    public override bool Read() => ++at < rows.Length;
    public override int FieldCount => names.Length;
    public override string GetName(int i) => names[i];
    public override Type GetFieldType(int i) => rows.Length == 0 ? typeof(int) : rows[0][i]!.GetType();
    public override object GetValue(int i) => rows[at][i] ?? DBNull.Value;
    public override int GetValues(object[] values)
    {
        for (var i = 0; i < names.Length; i++) values[i] = GetValue(i);
        return names.Length;
    }
    public override bool IsDBNull(int i) => rows[at][i] is null;
    public override bool NextResult() => false;
    public override bool HasRows => rows.Length > 0;
    public override int Depth => 0;
    public override bool IsClosed => false;
    public override int RecordsAffected => -1;
    public override object this[int i] => GetValue(i);
    public override object this[string name] => GetValue(GetOrdinal(name));
    public override int GetOrdinal(string name) => Array.IndexOf(names, name);
    public override string GetDataTypeName(int i) => GetFieldType(i).Name;
    public override IEnumerator GetEnumerator() => new DbEnumerator(this);
    public override DataTable? GetSchemaTable() => null;
    public override bool GetBoolean(int i) => (bool)GetValue(i);
    public override byte GetByte(int i) => (byte)GetValue(i);
    public override long GetBytes(int i, long o, byte[]? b, int bo, int l) => throw new NotSupportedException();
    public override char GetChar(int i) => (char)GetValue(i);
    public override long GetChars(int i, long o, char[]? b, int bo, int l) => throw new NotSupportedException();
    public override DateTime GetDateTime(int i) => (DateTime)GetValue(i);
    public override decimal GetDecimal(int i) => (decimal)GetValue(i);
    public override double GetDouble(int i) => (double)GetValue(i);
    public override float GetFloat(int i) => (float)GetValue(i);
    public override Guid GetGuid(int i) => (Guid)GetValue(i);
    public override short GetInt16(int i) => (short)GetValue(i);
    public override int GetInt32(int i) => (int)GetValue(i);
    public override long GetInt64(int i) => (long)GetValue(i);
    public override string GetString(int i) => (string)GetValue(i);
}
